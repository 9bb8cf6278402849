//! `paribus-engine at-boot`: undoes journals when the machine starts.
//!
//! In: the directory of journals. Out: a systemd unit, or a cron line where there is no systemd,
//! and a permanent copy of this engine. Called by `main`. `remove` deletes all of these files.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

use crate::error::{Class, EngineError, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BootAction {
    Install,
    Remove,
    Show,
}

/// The installed files; empty: nothing is done at boot.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename = "at-boot")]
pub struct AtBoot {
    pub files: Vec<PathBuf>,
}

const UNIT: &str = "etc/systemd/system/paribus-undo.service";
const WANTED: &str = "etc/systemd/system/multi-user.target.wants/paribus-undo.service";
const CRON: &str = "etc/cron.d/paribus-undo";
const ENGINE: &str = "paribus-engine-at-boot";

/// `root` is `/`, except for an image under construction.
pub fn at_boot(action: BootAction, journals: &Path, root: &Path) -> Result<AtBoot> {
    let engine = journals.with_file_name(ENGINE);
    match action {
        BootAction::Install => install(journals, &engine, root)?,
        BootAction::Remove => {
            for path in files(&engine, root) {
                fs::remove_file(&path).map_err(|cause| refused("remove", &path, &cause))?;
            }
        }
        BootAction::Show => {}
    }
    Ok(AtBoot {
        files: files(&engine, root),
    })
}

/// The existing ones of all possible files.
fn files(engine: &Path, root: &Path) -> Vec<PathBuf> {
    let all = [
        root.join(WANTED),
        root.join(UNIT),
        root.join(CRON),
        engine.to_path_buf(),
    ];
    let exists = |path: &PathBuf| path.symlink_metadata().is_ok();
    all.into_iter().filter(exists).collect()
}

fn install(journals: &Path, engine: &Path, root: &Path) -> Result<()> {
    copy_self(engine)?;
    let (engine, journals) = (quoted(engine)?, quoted(journals)?);
    let undo = format!("{engine} undo --directory {journals}");
    if root.join("etc/systemd/system").is_dir() {
        write(&root.join(UNIT), &unit(&undo))?;
        let link = root.join(WANTED);
        let created = link.parent().map_or(Ok(()), fs::create_dir_all);
        created
            .and_then(|()| match symlink(Path::new("/").join(UNIT), &link) {
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                other => other,
            })
            .map_err(|cause| refused("create", &link, &cause))
    } else if root.join("etc/cron.d").is_dir() {
        write(&root.join(CRON), &format!("@reboot root {undo}\n"))
    } else {
        Err(EngineError::new(
            Class::BadCommand,
            "this machine has neither systemd nor cron.d".to_string(),
            format!("run this command at each boot: {undo}"),
        ))
    }
}

fn unit(undo: &str) -> String {
    format!(
        "[Unit]\n\
         Description=Restore the settings of interrupted Paribus experiments\n\
         After=local-fs.target\n\
         Before=mysql.service mariadb.service postgresql.service\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart={undo}\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

/// Copies the engine, whose folder may be missing at boot or temporary.
fn copy_self(engine: &Path) -> Result<()> {
    let temporary = engine.with_extension("new");
    let folder = engine.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy("/proc/self/exe", &temporary))
        .and_then(|_| fs::set_permissions(&temporary, Permissions::from_mode(0o755)))
        .and_then(|()| fs::rename(&temporary, engine))
        .map_err(|cause| refused("copy the engine to", engine, &cause))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|cause| refused("write", path, &cause))
}

/// A path in a form that both systemd and cron accept.
fn quoted(path: &Path) -> Result<String> {
    let text = path.display().to_string();
    if text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "/._-+@".contains(c))
    {
        return Ok(text);
    }
    Err(EngineError::new(
        Class::BadCommand,
        format!("the path {text} cannot be used in a systemd unit"),
        "set PARIBUS_STATE to a directory without blanks and other special characters",
    ))
}

fn refused(verb: &str, path: &Path, cause: &io::Error) -> EngineError {
    let mut error = EngineError::from_io(verb, path, cause);
    error.hint = "run it as root".to_string();
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_removed_whole_with_either_starter() {
        for folder in ["etc/systemd/system", "etc/cron.d"] {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            let journals = root.join("state/journal");
            fs::create_dir_all(root.join(folder)).unwrap();
            assert_eq!(
                at_boot(BootAction::Show, &journals, root)
                    .unwrap()
                    .files
                    .len(),
                0
            );
            for _ in 0..2 {
                let files = at_boot(BootAction::Install, &journals, root).unwrap().files;
                assert!(files.contains(&root.join("state").join(ENGINE)));
                assert!(files.len() >= 2, "{files:?}");
            }
            let gone = at_boot(BootAction::Remove, &journals, root).unwrap();
            assert_eq!(gone.files, Vec::<PathBuf>::new());
        }
    }

    #[test]
    fn a_machine_without_a_starter_or_a_path_that_would_be_two_words_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let journals = directory.path().join("journal");
        assert!(at_boot(BootAction::Install, &journals, directory.path()).is_err());
        fs::create_dir_all(directory.path().join("etc/cron.d")).unwrap();
        let journals = directory.path().join("a b; id/journal");
        assert!(at_boot(BootAction::Install, &journals, directory.path()).is_err());
        assert!(!directory.path().join(CRON).exists());
    }
}
