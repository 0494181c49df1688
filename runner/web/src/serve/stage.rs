//! The stage of an exchange with a client, and the client's deadline in it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// A stage of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The client must have sent its request by then.
    Receiving(Instant),
    /// The server works on the answer, or waits for something to send.
    Answering,
    /// The client must have received what was sent by then.
    Sending(Instant),
}

impl Stage {
    pub(super) fn receiving(limit: Duration) -> Self {
        Self::Receiving(Instant::now() + limit)
    }

    pub(super) fn sending(limit: Duration) -> Self {
        Self::Sending(Instant::now() + limit)
    }
}

/// The stage of one exchange, shared by its tasks.
#[derive(Debug, Clone)]
pub(super) struct Progress(watch::Sender<Stage>);

impl Progress {
    pub(super) fn new(stage: Stage) -> Self {
        Self(watch::Sender::new(stage))
    }

    pub(super) fn set(&self, stage: Stage) {
        self.0.send_replace(stage);
    }

    pub(super) fn stage(&self) -> Stage {
        *self.0.borrow()
    }

    /// Waits until the client is late.
    pub(super) async fn until_late(&self) {
        let mut changes = self.0.subscribe();
        loop {
            let stage = *changes.borrow_and_update();
            let changed = changes.changed();
            let changed = match stage {
                Stage::Answering => changed.await,
                Stage::Receiving(limit) | Stage::Sending(limit) => match timeout_at(limit, changed).await {
                    Ok(changed) => changed,
                    Err(_) => return,
                },
            };
            changed.expect("self is a sender");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{Progress, Stage};

    #[test]
    fn a_client_is_late_only_while_it_must_act() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let moment = Duration::from_millis(20);
        let is_late = |progress: &Progress| {
            runtime.block_on(async { timeout(4 * moment, progress.until_late()).await.is_ok() })
        };
        let progress = Progress::new(Stage::receiving(moment));
        assert!(is_late(&progress));
        progress.set(Stage::Answering);
        assert!(!is_late(&progress));
        progress.set(Stage::sending(Duration::from_hours(1)));
        assert!(!is_late(&progress));
        progress.set(Stage::sending(moment));
        assert!(is_late(&progress));
    }

    #[test]
    fn a_client_that_acts_in_time_is_not_late() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let progress = Progress::new(Stage::receiving(Duration::from_millis(50)));
        let other = progress.clone();
        runtime.block_on(async {
            tokio::spawn(async move { other.set(Stage::Answering) });
            assert!(timeout(Duration::from_millis(200), progress.until_late()).await.is_err());
        });
    }
}
