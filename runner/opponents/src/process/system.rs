//! What processes need of the system and the standard library does not offer.

#![allow(unsafe_code, reason = "sessions, groups of processes and poll have no safe interface")]

use std::io;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

/// Makes a program start in a session of its own: without a terminal, so that it can neither ask one nor get its Ctrl-C, and as
/// the head of a group of processes, which ends as one. On Linux it also inherits no files, and ends with the thread that
/// starts it, which is how it ends if this process is killed. (A program with the set-user-ID or set-group-ID bit is exempt from
/// the last; it finds its input closed.)
pub(super) fn isolate(command: &mut Command) {
    #[cfg(target_os = "linux")]
    let parent = std::process::id() as libc::pid_t;
    let prepare = move || {
        // SAFETY: system calls without pointers, which are safe between `fork` and `exec`.
        unsafe {
            if libc::setsid() == -1 {
                return Err(io::Error::last_os_error());
            }
            #[cfg(target_os = "linux")]
            {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) == -1 {
                    return Err(io::Error::last_os_error());
                }
                // It may have ended before the call.
                if libc::getppid() != parent {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                // Libraries in other languages open files that programs inherit. Kernels before 5.11 cannot do this.
                libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
            }
        }
        Ok(())
    };
    // SAFETY: the closure only makes system calls; it neither allocates nor locks.
    unsafe { command.pre_exec(prepare) };
}

/// Makes reads and writes of a pipe return at once.
pub(super) fn set_nonblocking(handle: RawFd) -> io::Result<()> {
    // SAFETY: both calls only read and write the flags of an open file.
    let is_set = unsafe {
        let flags = libc::fcntl(handle, libc::F_GETFL);
        flags != -1 && libc::fcntl(handle, libc::F_SETFL, flags | libc::O_NONBLOCK) != -1
    };
    if is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What to wait for at a pipe.
#[derive(Debug, Clone, Copy)]
pub(super) enum Watch {
    /// Something to read, or its end.
    Input(RawFd),
    /// Space to write, or its end.
    Space(RawFd),
    /// Nothing.
    Off,
}

/// Waits until at least one of the pipes is ready or the time is over, and returns which are.
pub(super) fn wait_for<const N: usize>(pipes: [Watch; N], time: Duration) -> [bool; N] {
    let mut polled = pipes.map(|pipe| {
        let (fd, events) = match pipe {
            Watch::Input(fd) => (fd, libc::POLLIN),
            Watch::Space(fd) => (fd, libc::POLLOUT),
            Watch::Off => (-1, 0),
        };
        libc::pollfd { fd, events, revents: 0 }
    });
    // Rounded up, so that the last millisecond is not spent in a busy loop.
    let milliseconds = time.as_millis().saturating_add(1).min(60_000) as libc::c_int;
    // SAFETY: the pointer and the length are those of the array.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, milliseconds) };
    polled.map(|pipe| ready > 0 && pipe.revents != 0)
}

/// Whether a child of this process has ended. It is not reaped, so its number and that of its group stay taken.
pub(super) fn has_ended(child: u32) -> bool {
    // SAFETY: all zeros are a valid `siginfo_t`, which the call writes.
    unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let result = libc::waitid(libc::P_PID, child, &raw mut info, flags);
        result == -1 || info.si_signo == libc::SIGCHLD
    }
}

/// Kills all processes of a group.
pub(super) fn kill_group(head: u32) {
    // SAFETY: the call has no pointers, and the group is that of a child that has not been reaped.
    unsafe { libc::kill(-(head as libc::pid_t), libc::SIGKILL) };
}
