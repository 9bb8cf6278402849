//! ZFS pools on the disks of a layout, destroyed.
//!
//! In: the disks. Out: no pool lies on them. Called by `journal::action::release`.
//!
//! ZFS holds its devices without a holder in sysfs, and its mounts name the pool, so neither leads
//! from a disk to a pool. Only `zpool` does.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::program::output;
use crate::device::StackedDevice;

const MODULE: &str = "/sys/module/zfs";

/// Destroys each pool that lies on these disks. One that also lies on another disk is refused.
pub(super) fn destroy(layout: &BTreeSet<StackedDevice>) -> io::Result<()> {
    if !Path::new(MODULE).exists() {
        return Ok(());
    }
    for pool in output(&["zpool", "list", "-H", "-o", "name"])?.lines() {
        let listed = output(&["zpool", "list", "-v", "-H", "-L", "-P", pool])?;
        let bottom: BTreeSet<StackedDevice> = devices_in(&listed)
            .iter()
            .filter_map(|path| StackedDevice::of_path(path).ok())
            .flat_map(|device| device.bottom(layout))
            .collect();
        if bottom.is_disjoint(layout) {
            continue;
        }
        if let Some(other) = bottom.difference(layout).next() {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "the ZFS pool {pool} also lies on {}, which is no disk of this layout, so it was not touched",
                    other.name
                ),
            ));
        }
        output(&["zpool", "destroy", "-f", pool])?;
    }
    Ok(())
}

/// The device nodes in a list of a pool's devices, which also has lines for the pool and its groups.
fn devices_in(listed: &str) -> Vec<&Path> {
    listed
        .split_whitespace()
        .filter(|word| word.starts_with("/dev/"))
        .map(Path::new)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_devices_are_taken_from_a_list() {
        let listed = "tank\t960M\t108K\t960M\t-\t-\t0%\t0%\t1.00x\tONLINE\t-\n\
                      \tmirror-0\t480M\t60K\t480M\t-\t-\t0%\t0.01%\t-\tONLINE\n\
                      \t\t/dev/vdb1\t-\t-\t-\t-\t-\t-\t-\t-\tONLINE\n\
                      \t\t/dev/vdc1\t-\t-\t-\t-\t-\t-\t-\t-\tONLINE\n\
                      logs\t-\t-\t-\t-\t-\t-\t-\t-\t-\n\
                      \t/dev/nvme0n1p1\t1.50G\t0\t1.50G\t-\t-\t0%\t0.00%\t-\tONLINE\n";
        let devices = devices_in(listed);
        let expected = ["/dev/vdb1", "/dev/vdc1", "/dev/nvme0n1p1"].map(Path::new);
        assert_eq!(devices, expected);
    }
}
