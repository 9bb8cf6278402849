//! `paribus-engine cut-off POINT`: a mounted file system that loses what it has not written, as at a
//! power cut.
//!
//! In: a mount point. Out: one `cut-off` event. The file system refuses every operation until it is
//! mounted again, and replays its log then. Drives keep what they got, in their caches too.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Class, EngineError, Result};
use crate::machine::mounts;

/// `FS_IOC_SHUTDOWN`: linux/fs/ext4/ext4.h, linux/fs/xfs/libxfs/xfs_fs.h.
const SHUTDOWN: u32 = 0x8004_587D;
/// Without what is in memory, the log included.
const WITHOUT_LOG: u32 = 2;
const ABLE: [&str; 3] = ["ext4", "xfs", "f2fs"];

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename = "cut-off")]
pub struct CutOff {
    pub point: PathBuf,
    pub filesystem: String,
}

/// Cuts off the file system that is mounted exactly here; never the one that the system is on.
pub fn cut_off(point: &Path) -> Result<CutOff> {
    let failed =
        |action: &'static str| move |cause: io::Error| EngineError::from_io(action, point, &cause);
    let mounts = mounts::present().map_err(failed("find the mount at"))?;
    let mount = mounts
        .iter()
        .rev()
        .find(|mount| mount.point == point && point != Path::new("/"))
        .ok_or_else(|| refused(point, "is no mount point of its own"))?;
    if !ABLE.contains(&mount.filesystem.as_str()) {
        let what = format!("is {}, which cannot be cut off", mount.filesystem);
        return Err(refused(point, &what));
    }
    let directory = File::open(point).map_err(failed("open"))?;
    // rustix has no call for this.
    // SAFETY: the kernel reads one u32.
    let status = unsafe { libc::ioctl(directory.as_raw_fd(), SHUTDOWN as _, &WITHOUT_LOG) };
    if status != 0 {
        return Err(failed("cut off")(io::Error::last_os_error()));
    }
    Ok(CutOff {
        point: point.into(),
        filesystem: mount.filesystem.clone(),
    })
}

fn refused(point: &Path, what: &str) -> EngineError {
    let message = format!("{} {what}", point.display());
    let hint = format!(
        "name the mount point of a file system of {}",
        ABLE.join(", ")
    );
    EngineError::new(Class::NotOurs, message, hint).at(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_and_plain_folders_are_refused() {
        let folder = std::env::temp_dir().join("paribus-no-mount-point");
        for point in [Path::new("/"), folder.as_path()] {
            let error = cut_off(point).expect_err("refused");
            assert!(
                error.to_string().contains("no mount point of its own"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_file_system_without_such_a_call_is_refused() {
        let error = cut_off(Path::new("/proc")).expect_err("refused");
        assert!(error.to_string().contains("is proc"), "{error}");
    }
}
