//! Facts about this machine and this process that several modules need.
//!
//! In: nothing. Out: numbers and strings read from the kernel. Called by `load`, `probe`,
//! `telemetry` and `journal`.

pub mod account;
pub mod mounts;
pub mod process;

use std::env;
use std::fs;
use std::io;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// User and system CPU seconds of this process so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuTime {
    pub user_s: f64,
    pub system_s: f64,
}

pub fn own_cpu_time() -> CpuTime {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // rustix has no call for it.
    // SAFETY: `usage` is writable memory of the right type, and all zeroes is a valid rusage.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    CpuTime {
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
    }
}

/// The number of cores that the scheduler lets this process use.
pub fn cores_usable() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Makes timers of the calling thread fire on time. By default the kernel may add 50 us to reduce
/// wake-ups.
pub fn sleep_precisely() {
    let nanoseconds = NonZeroU64::MIN;
    // Without it, timers are only less precise.
    let _ = rustix::thread::set_current_timer_slack(Some(nanoseconds));
}

/// Schedules the calling thread so that a wake-up does not preempt the task on its core
/// (SCHED_BATCH). For a thread that others on this machine wake up all the time. A load that
/// preempts the server at each answer costs both of them two context switches.
pub fn wake_without_preempting() {
    let usual: libc::c_int = 0; // all of the kernel's sched_param
    // rustix has no call for it, and that of musl does nothing.
    // SAFETY: `usual` lives during the call, which changes this thread alone. Where it is forbidden
    // nothing is lost but time.
    unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_BATCH,
            &raw const usual,
        )
    };
}

/// The kernel's id of this boot; empty where the kernel does not report it.
pub fn boot_id() -> String {
    first_line("/proc/sys/kernel/random/boot_id")
}

pub fn hostname() -> String {
    first_line("/proc/sys/kernel/hostname")
}

pub fn kernel_release() -> String {
    first_line("/proc/sys/kernel/osrelease")
}

fn first_line(path: &str) -> String {
    fs::read_to_string(path)
        .map(|text| text.trim().to_string())
        .unwrap_or_default()
}

/// Makes this process ignore a signal; used where the default would end it without cleaning up.
pub fn ignore_signal(signal: i32) {
    // rustix leaves signal handlers to libc, which has its own record of them.
    // SAFETY: SIG_IGN installs no handler code, so no async-signal-safety is at stake.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// The effective user of this process.
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub fn is_root() -> bool {
    user() == 0
}

/// The state directory of root.
pub const ROOT_STATE: &str = "/var/lib/paribus";

/// The directory for state that must survive this process and the boot, above all journals.
pub fn state_directory() -> PathBuf {
    let named = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let users = || {
        named("XDG_STATE_HOME")
            .unwrap_or_else(|| named("HOME").unwrap_or_default().join(".local/state"))
            .join("paribus")
    };
    let chosen = named("PARIBUS_STATE")
        .or_else(|| is_root().then(|| PathBuf::from(ROOT_STATE)))
        .unwrap_or_else(users);
    std::path::absolute(&chosen).unwrap_or(chosen)
}

/// Space on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// The space that this user may still use, which is less than the free space.
    pub available_bytes: u64,
    pub total_bytes: u64,
}

pub fn space(path: &Path) -> io::Result<Space> {
    let statistics = rustix::fs::statvfs(path)?;
    Ok(Space {
        available_bytes: statistics.f_bavail * statistics.f_frsize,
        total_bytes: statistics.f_blocks * statistics.f_frsize,
    })
}

/// Whether the file system loses its content in a power cut.
pub fn is_volatile(path: &Path) -> io::Result<bool> {
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    const TMPFS_MAGIC: i64 = 0x0102_1994;
    let magic = file_system(path)?;
    Ok(magic == TMPFS_MAGIC || magic == RAMFS_MAGIC)
}

/// Whether a file keeps its inode number until it is removed; in FUSE the number belongs to a
/// look-up.
pub fn keeps_inodes(path: &Path) -> io::Result<bool> {
    const FUSE_MAGIC: i64 = 0x6573_5546;
    Ok(file_system(path)? != FUSE_MAGIC)
}

/// The magic number of the file system.
fn file_system(path: &Path) -> io::Result<i64> {
    let statistics = rustix::fs::statfs(path)?;
    // The field's type differs between architectures.
    #[allow(clippy::unnecessary_cast)]
    let magic = statistics.f_type as i64;
    Ok(magic)
}

/// The path itself, or the nearest directory above it that exists.
pub fn nearest_existing(path: &Path) -> PathBuf {
    path.ancestors()
        .find(|ancestor| ancestor.exists())
        .unwrap_or(Path::new("/"))
        .to_path_buf()
}
