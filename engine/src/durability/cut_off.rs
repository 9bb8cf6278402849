//! `paribus-engine cut-off POINT`: a mounted file system that loses what it has not written, as at a
//! power cut.
//!
//! In: a mount point and its block device. Out: one `cut-off` event. The file system refuses every operation until it is
//! mounted again, and replays its log then. Drives keep what they got, in their caches too.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Class, EngineError, Result};
use crate::machine::mounts::{self, Mount};

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

/// Cuts off the file system of this block device, which must be mounted here and nowhere else.
pub fn cut_off(point: &Path, device: &Path) -> Result<CutOff> {
    let failed =
        |action: &'static str| move |cause: io::Error| EngineError::from_io(action, point, &cause);
    let number = fs::metadata(device)
        .map_err(|cause| EngineError::from_io("examine", device, &cause))?
        .rdev();
    let number = format!("{}:{}", libc::major(number), libc::minor(number));
    let mounts = mounts::present().map_err(failed("find the mount at"))?;
    let mount = only_mount(&mounts, point, &number).ok_or_else(|| {
        refused(
            point,
            &format!(
                "must be the mount point of {}, and the only one",
                device.display()
            ),
        )
    })?;
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

/// The mount of a device at a point; nothing where it is not mounted there, or elsewhere too.
fn only_mount<'a>(mounts: &'a [Mount], point: &Path, number: &str) -> Option<&'a Mount> {
    let mut of_device = mounts.iter().filter(|mount| mount.major_minor == number);
    match (of_device.next(), of_device.next()) {
        (Some(mount), None) if mount.point == point && point != Path::new("/") => Some(mount),
        _ => None,
    }
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
    fn a_device_must_be_mounted_there_and_nowhere_else() {
        let mounts = mounts::parse(
            "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
             23 22 254:0 /etc /srv/etc rw - ext4 /dev/vda rw\n\
             40 22 9:127 / /data rw - xfs /dev/md127 rw\n",
        );
        let is_only = |point: &str, number| only_mount(&mounts, Path::new(point), number).is_some();
        assert!(is_only("/data", "9:127"));
        assert!(!is_only("/data", "254:0"));
        assert!(!is_only("/", "254:0"), "the root");
        assert!(!is_only("/srv/etc", "254:0"), "a part of the root");
        assert!(!is_only("/nowhere", "9:127"));
        assert!(
            only_mount(&mounts[..1], Path::new("/"), "254:0").is_none(),
            "the root alone"
        );
    }

    #[test]
    fn what_is_no_mount_of_the_device_is_refused() {
        let error = cut_off(Path::new("/proc"), Path::new("/dev/null")).expect_err("refused");
        assert!(
            error
                .to_string()
                .contains("must be the mount point of /dev/null, and the only one"),
            "{error}"
        );
    }
}
