//! Devices that the trials of a sweep share: each gets the least busy of them while its run is open.

use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

/// The devices of a sweep, in as many groups as trials can use at the same time.
#[derive(Debug)]
pub struct Devices {
    /// Each as a run's record names it, such as `cuda:1` or `cuda:0,cuda:1`.
    groups: Vec<String>,
    /// Trials at work on each.
    busy: Mutex<Vec<u32>>,
}

/// A group of devices that a trial works on until this value is gone.
#[derive(Debug)]
pub struct Lease {
    devices: Arc<Devices>,
    group: usize,
}

impl Devices {
    /// For so many trials at the same time.
    pub fn new(devices: &[String], parallel: u32) -> Self {
        let groups = groups(devices, parallel as usize);
        let busy = Mutex::new(vec![0; groups.len()]);
        Self { groups, busy }
    }

    fn busy(&self) -> MutexGuard<'_, Vec<u32>> {
        self.busy.lock().ignore_poison()
    }

    /// The least busy group.
    pub fn lease(self: &Arc<Self>) -> Lease {
        let mut busy = self.busy();
        let group = least_busy(&busy);
        busy[group] += 1;
        Lease { devices: Arc::clone(self), group }
    }
}

impl Lease {
    /// The devices, separated by commas.
    pub fn names(&self) -> &str {
        &self.devices.groups[self.group]
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.devices.busy()[self.group] -= 1;
    }
}

/// Neighbouring devices together, in as many groups as there are devices and trials for, and as even as that goes.
fn groups(devices: &[String], trials: usize) -> Vec<String> {
    let count = devices.len().min(trials.max(1));
    let start = |group: usize| group * devices.len() / count;
    (0..count).map(|group| devices[start(group)..start(group + 1)].join(",")).collect()
}

/// The first of those with the fewest trials.
fn least_busy(busy: &[u32]) -> usize {
    (0..busy.len()).min_by_key(|group| busy[*group]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Devices, Lease, groups, least_busy};

    fn named(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("cuda:{number}")).collect()
    }

    #[test]
    fn devices_are_dealt_out_as_evenly_as_they_go() {
        assert_eq!(groups(&named(4), 1), ["cuda:0,cuda:1,cuda:2,cuda:3"]);
        assert_eq!(groups(&named(4), 2), ["cuda:0,cuda:1", "cuda:2,cuda:3"]);
        assert_eq!(groups(&named(3), 2), ["cuda:0", "cuda:1,cuda:2"]);
        assert_eq!(groups(&named(2), 5), ["cuda:0", "cuda:1"]);
        assert_eq!(groups(&["cpu".to_owned()], 5), ["cpu"]);
    }

    #[test]
    fn the_least_busy_device_is_next() {
        assert_eq!((least_busy(&[0, 0]), least_busy(&[2, 1, 1]), least_busy(&[1])), (0, 1, 0));
        let devices = Arc::new(Devices::new(&named(2), 3));
        let first = devices.lease();
        let (second, third) = (devices.lease(), devices.lease());
        assert_eq!([&first, &second, &third].map(Lease::names), ["cuda:0", "cuda:1", "cuda:0"]);
        // Whoever ends makes room, whatever the turn.
        drop((first, third));
        assert_eq!(devices.lease().names(), "cuda:0");
        drop(second);
        let again = [devices.lease(), devices.lease()];
        assert_eq!(again.each_ref().map(Lease::names), ["cuda:0", "cuda:1"]);
    }
}
