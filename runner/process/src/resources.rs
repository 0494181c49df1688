//! Processor time and memory used by this process.

/// CPU time of this process in seconds; `None` if the system does not report it.
#[cfg(unix)]
pub fn cpu_seconds() -> Option<f64> {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    usage().map(|usage| seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

/// CPU time of this process in seconds; `None` if the system does not report it.
#[cfg(not(unix))]
pub fn cpu_seconds() -> Option<f64> {
    None
}

/// How much threads of [`lower_priority`] give way to others, of at most 19. With 0, a training beside games is slowed down more than
/// the games gain; with 19, games hardly go on while anything else runs. Measured.
#[cfg(target_os = "linux")]
const NICE: libc::c_int = 10;

/// Lets other threads go before the calling thread and those that it starts from now on. Only Linux has priorities of threads.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a thread's priority has no safe interface")]
pub fn lower_priority() {
    // SAFETY: setpriority takes three integers, and touches no memory of ours. With the id 0 it is the calling thread's on Linux.
    let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    if result != 0 {
        log::debug!("the priority of a thread stays: {}", std::io::Error::last_os_error());
    }
}

/// Lets other threads go before the calling thread. Only Linux has priorities of threads.
#[cfg(not(target_os = "linux"))]
pub fn lower_priority() {}

/// Bytes of memory that this process can still take: what the system has available, less where a container or `ulimit -v` limits it.
/// `None` if the system does not report it.
pub fn available_memory() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let system = kibibytes(&read("/proc/meminfo")?, "MemAvailable:")?;
    let container = read("/proc/self/cgroup").and_then(|groups| left_by_groups(&groups, &read));
    let address_space = read("/proc/self/limits").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(kibibytes(&read("/proc/self/status")?, "VmSize:")?))
    });
    [Some(system), container, address_space].into_iter().flatten().min()
}

/// Where a version of Linux' control groups has its folders, and what their files are called.
struct GroupFiles {
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    /// Lines of `memory.stat`: file caches, which count as used although the system drops them when memory runs short, active ones
    /// after the others. `MemAvailable` has both, too.
    cached: [&'static str; 2],
}

const VERSION_1: GroupFiles = GroupFiles {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cached: ["total_active_file ", "total_inactive_file "],
};

const VERSION_2: GroupFiles = GroupFiles {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    cached: ["active_file ", "inactive_file "],
};

/// Bytes that the control groups of this process leave it, by the text of `/proc/self/cgroup`; `None` without a limit. `read` gives
/// the text of a file.
fn left_by_groups(groups: &str, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let left = |line: &str| {
        // `0::/path` in version 2, and `4:memory:/path` in version 1.
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let files = match controllers {
            "" => VERSION_2,
            "memory" => VERSION_1,
            _ => return None,
        };
        // The groups around a group limit it, too.
        let own = path.trim_end_matches('/');
        let all = std::iter::successors(Some(own), |path| path.rsplit_once('/').map(|(parent, _)| parent));
        all.filter_map(|path| left_by_group(&format!("{}{path}", files.root), &files, read)).min()
    };
    groups.lines().filter_map(left).min()
}

fn left_by_group(folder: &str, files: &GroupFiles, read: &dyn Fn(&str) -> Option<String>) -> Option<u64> {
    let number = |name: &str| read(&format!("{folder}/{name}"))?.trim().parse::<u64>().ok();
    // `max` where there is none.
    let limit = number(files.limit)?;
    let stat = read(&format!("{folder}/memory.stat")).unwrap_or_default();
    let bytes = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
    let cached: u64 = files.cached.into_iter().filter_map(bytes).sum();
    Some(limit.saturating_sub(number(files.used)?.saturating_sub(cached)))
}

/// The bytes in a line `NAME   12345 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Peak memory of this process in bytes, since [`reset_peak_memory`] or since its start.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    status.as_deref().and_then(resident_peak).or_else(peak_since_start)
}

/// Resets [`peak_memory`]. Only works on Linux; elsewhere the peak is always since the start of the process.
pub fn reset_peak_memory() {
    if cfg!(target_os = "linux")
        && let Err(cause) = std::fs::write("/proc/self/clear_refs", "5")
    {
        log::debug!("the peak of memory includes earlier steps: {cause}");
    }
}

/// The line `VmHWM:   12345 kB` of `/proc/self/status`.
fn resident_peak(status: &str) -> Option<u64> {
    kibibytes(status, "VmHWM:")
}

#[cfg(unix)]
fn peak_since_start() -> Option<u64> {
    // In bytes on macOS, in KiB elsewhere.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    usage().map(|usage| usage.ru_maxrss as u64 * unit)
}

#[cfg(not(unix))]
fn peak_since_start() -> Option<u64> {
    None
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "resource usage has no safe interface")]
fn usage() -> Option<libc::rusage> {
    // SAFETY: `rusage` is a struct of integers, for which all zeros is valid; the call writes only to the struct, whose
    // content is used only if the call succeeds.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) == 0).then_some(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::{available_memory, cpu_seconds, left_by_groups, peak_memory, resident_peak};

    #[test]
    fn the_peak_is_read_in_bytes() {
        assert_eq!(resident_peak("VmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n"), Some(2 << 20));
        assert_eq!(resident_peak("VmPeak:\t 9 kB\n"), None);
    }

    #[test]
    fn control_groups_leave_what_is_not_used_of_their_limits() {
        let left = |groups: &str, files: &[(&str, &str)]| {
            let read =
                |path: &str| files.iter().find(|(file, _)| *file == path).map(|(_, text)| (*text).to_owned());
            left_by_groups(groups, &read)
        };
        let version_2 = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "300\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.current", "700\n"),
            ("/sys/fs/cgroup/a/memory.stat", "active_file 50\ninactive_file 200\n"),
        ];
        assert_eq!(left("0::/a/b\n", &version_2), Some(550), "the group around it has a limit");
        assert_eq!(left("0::/\n", &version_2), None);
        let version_1 = [
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n"),
            ("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1200\n"),
        ];
        assert_eq!(left("5:cpu,cpuacct:/a\n4:memory:/a\n0::/a\n", &version_1), Some(0));
        let cached = (
            "/sys/fs/cgroup/memory/memory.stat",
            "inactive_file 1\ntotal_inactive_file 200\ntotal_active_file 300\n",
        );
        assert_eq!(left("4:memory:/a\n", &[version_1.as_slice(), &[cached]].concat()), Some(300));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn some_memory_is_available() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_works_uses_time_and_memory() {
        let before = cpu_seconds().expect("the system reports it");
        let mut sum = 0u64;
        while cpu_seconds().expect("the system reports it") <= before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(peak_memory().expect("the system reports it") > 1 << 20);
    }
}
