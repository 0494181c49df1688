//! How far the exchange with a client is, and by when the client has to have done its part.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// A part of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The client has to have sent its request by then.
    Arriving(Instant),
    /// The server works on the answer, or waits for something to tell.
    Answering,
    /// The client has to have taken what was sent by then.
    Leaving(Instant),
}

impl Stage {
    pub(super) fn arriving(limit: Duration) -> Self {
        Self::Arriving(Instant::now() + limit)
    }

    pub(super) fn leaving(limit: Duration) -> Self {
        Self::Leaving(Instant::now() + limit)
    }
}

/// The stage of one exchange, shared by those who take part in it.
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
                Stage::Arriving(limit) | Stage::Leaving(limit) => match timeout_at(limit, changed).await {
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
    fn a_client_is_late_only_where_it_has_something_to_do() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let moment = Duration::from_millis(20);
        let is_late = |progress: &Progress| {
            runtime.block_on(async { timeout(4 * moment, progress.until_late()).await.is_ok() })
        };
        let progress = Progress::new(Stage::arriving(moment));
        assert!(is_late(&progress));
        progress.set(Stage::Answering);
        assert!(!is_late(&progress));
        progress.set(Stage::leaving(Duration::from_hours(1)));
        assert!(!is_late(&progress));
        progress.set(Stage::leaving(moment));
        assert!(is_late(&progress));
    }

    #[test]
    fn who_goes_on_in_time_is_not_late() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let progress = Progress::new(Stage::arriving(Duration::from_millis(50)));
        let other = progress.clone();
        runtime.block_on(async {
            tokio::spawn(async move { other.set(Stage::Answering) });
            assert!(timeout(Duration::from_millis(200), progress.until_late()).await.is_err());
        });
    }
}
