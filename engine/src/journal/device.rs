//! The block device of a change: its name may lead to another device at the time of the undo.
//!
//! In: a change. Out: the identity of its device now, or the difference from the device at the time
//! of the change. Called by `journal::keeper` and `journal::restore`.

use std::fs;
use std::path::{Path, PathBuf};

use super::action::Action;
use super::line::Change;
use crate::device::DeviceIdentity;

/// The device of the changed setting; `None` where it belongs to none, or the device is gone.
pub fn device_of(change: &Change) -> Option<DeviceIdentity> {
    change.undo.iter().find_map(|action| match action {
        Action::Write(write) => DeviceIdentity::of_sysfs(&block_folder(&write.path)?).ok(),
        Action::Mount(mount) => DeviceIdentity::of_path(&mount.source()?).ok(),
        Action::Release(release) => DeviceIdentity::of_path(&release.path).ok(),
        _ => None,
    })
}

/// The difference between the present device of that name and the changed one; `None` where there
/// is none, or the device is gone.
///
/// A driver that the experiment reloads creates its devices again. Then only permanent facts are
/// compared.
pub fn difference(change: &Change, is_reloaded: bool) -> Option<String> {
    let mut earlier = change.device.clone()?;
    if is_reloaded {
        earlier.boot_id = Some(String::new());
    }
    device_of(change)?.differs_from(&earlier)
}

/// Whether the experiment reloads drivers.
pub fn reloads<'a>(changes: impl IntoIterator<Item = &'a Change>) -> bool {
    let mut actions = changes.into_iter().flat_map(|change| &change.undo);
    actions.any(|action| matches!(action, Action::Module(_)))
}

/// The sysfs folder of the block device that a file belongs to.
fn block_folder(file: &Path) -> Option<PathBuf> {
    if !file.starts_with("/sys") {
        return None;
    }
    let attribute = fs::canonicalize(file).ok()?;
    let is_block = |folder: &&Path| {
        folder.join("dev").is_file()
            && fs::read_link(folder.join("subsystem")).is_ok_and(|link| link.ends_with("block"))
    };
    attribute.ancestors().find(is_block).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_disk_is_found_from_its_settings_and_from_those_of_a_partition() {
        let disks = fs::read_dir("/sys/block").unwrap().flatten();
        for disk in disks.filter(|disk| disk.path().join("queue/read_ahead_kb").exists()) {
            let folder = block_folder(&disk.path().join("queue/read_ahead_kb")).unwrap();
            assert_eq!(folder.file_name(), Some(disk.file_name().as_os_str()));
        }
        assert_eq!(block_folder(Path::new("/sys/kernel/mm")), None);
        assert_eq!(block_folder(Path::new("/proc/sys/vm/swappiness")), None);
    }
}
