//! A resource that does one thing after the other: a processor, a disk, a link.

/// When it is free, and how long it has worked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Server {
    free_at: f64,
    busy: f64,
}

impl Server {
    /// Does work of some seconds that arrives now; returns when it is done.
    pub(super) fn serve(&mut self, now: f64, secs: f64) -> f64 {
        self.free_at = self.free_at.max(now) + secs;
        self.busy += secs;
        self.free_at
    }

    /// The share of some seconds in which it has worked; one if work is left over at the end.
    pub(super) fn load(self, secs: f64) -> f64 {
        (self.busy / secs.max(1e-9)).min(1.0)
    }
}
