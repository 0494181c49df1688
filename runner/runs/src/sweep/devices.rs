//! Devices shared by the trials of a sweep: each trial gets the least busy group while its run is open.

use std::sync::{Arc, Mutex, MutexGuard};

use dc0_core::poison::IgnorePoison as _;

/// The devices of a sweep, split into as many groups as there are parallel trials.
#[derive(Debug)]
pub struct Devices {
    /// Each group as a run's record names it, such as `cuda:1` or `cuda:0,cuda:1`.
    groups: Vec<String>,
    /// Number of trials using each group.
    busy: Mutex<Vec<u32>>,
}

/// A trial's use of a group of devices, until this value is dropped.
#[derive(Debug)]
pub struct DeviceLease {
    devices: Arc<Devices>,
    group: usize,
}

impl Devices {
    /// Groups the devices for this many parallel trials.
    pub fn new(devices: &[String], parallel: u32) -> Self {
        let groups = groups(devices, parallel as usize);
        let busy = Mutex::new(vec![0; groups.len()]);
        Self { groups, busy }
    }

    fn busy(&self) -> MutexGuard<'_, Vec<u32>> {
        self.busy.lock().ignore_poison()
    }

    /// Leases the least busy group.
    pub fn lease(self: &Arc<Self>) -> DeviceLease {
        let mut busy = self.busy();
        let group = least_busy(&busy);
        busy[group] += 1;
        DeviceLease { devices: Arc::clone(self), group }
    }
}

impl DeviceLease {
    /// The devices, separated by commas.
    pub fn names(&self) -> &str {
        &self.devices.groups[self.group]
    }
}

impl Drop for DeviceLease {
    fn drop(&mut self) {
        self.devices.busy()[self.group] -= 1;
    }
}

/// Groups neighbouring devices as evenly as possible, into one group per trial, or per device if there are fewer devices.
fn groups(devices: &[String], trials: usize) -> Vec<String> {
    let count = devices.len().min(trials.max(1));
    let start = |group: usize| group * devices.len() / count;
    (0..count).map(|group| devices[start(group)..start(group + 1)].join(",")).collect()
}

/// The first group with the fewest trials.
fn least_busy(busy: &[u32]) -> usize {
    (0..busy.len()).min_by_key(|group| busy[*group]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{DeviceLease, Devices, groups, least_busy};

    fn named(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("cuda:{number}")).collect()
    }

    #[test]
    fn devices_are_grouped_as_evenly_as_possible() {
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
        assert_eq!([&first, &second, &third].map(DeviceLease::names), ["cuda:0", "cuda:1", "cuda:0"]);
        // Leases can end in any order.
        drop((first, third));
        assert_eq!(devices.lease().names(), "cuda:0");
        drop(second);
        let again = [devices.lease(), devices.lease()];
        assert_eq!(again.each_ref().map(DeviceLease::names), ["cuda:0", "cuda:1"]);
    }
}
