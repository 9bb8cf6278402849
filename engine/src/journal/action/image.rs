//! A file as it was before the change: its content, or that there was none.
//!
//! In: a before-image from a journal. Out: the file as it was, on the disk. Called by
//! `journal::action`.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// Puts a whole file back, or removes one that was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBack {
    pub path: PathBuf,
    /// `null`: there was no file.
    pub before: Option<Image>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    pub base64: String,
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
}

impl PutBack {
    pub fn wanted(&self) -> String {
        match &self.before {
            None => ABSENT.to_string(),
            Some(image) => image.bytes().map_or_else(
                |cause| format!("nothing that can be used: {cause}"),
                |bytes| seal(&bytes, image.mode),
            ),
        }
    }

    pub fn execute(&self) -> io::Result<()> {
        match &self.before {
            None => match fs::remove_file(&self.path) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
                _ => {}
            },
            Some(image) => self.replace(image)?,
        }
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        File::open(directory)?.sync_all()
    }

    /// Whoever reads the file meanwhile sees the one or the other, whole.
    fn replace(&self, image: &Image) -> io::Result<()> {
        let bytes = image.bytes()?;
        let mut beside = self.path.clone().into_os_string();
        beside.push(".paribus-undo");
        let beside = PathBuf::from(beside);
        let _ = fs::remove_file(&beside);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)?;
        file.write_all(&bytes)?;
        file.set_permissions(Permissions::from_mode(image.mode))?;
        // Without privilege it belongs to this user anyway.
        let _ = chown(&beside, Some(image.uid), Some(image.gid));
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }

    pub fn read_back(&self) -> io::Result<String> {
        match fs::read(&self.path) {
            Ok(bytes) => {
                let mode = fs::metadata(&self.path)?.permissions().mode() & 0o7777;
                Ok(seal(&bytes, mode))
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(ABSENT.to_string()),
            Err(cause) => Err(cause),
        }
    }
}

impl Image {
    fn bytes(&self) -> io::Result<Vec<u8>> {
        BASE64_STANDARD
            .decode(&self.base64)
            .map_err(io::Error::other)
    }
}

const ABSENT: &str = "no file";

/// A file in few words, for telling whether it is the same one.
fn seal(bytes: &[u8], mode: u32) -> String {
    format!(
        "{} bytes, crc32 {:08x}, mode {mode:o}",
        bytes.len(),
        crc32fast::hash(bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put_back(path: &Path, before: Option<&[u8]>) -> PutBack {
        PutBack {
            path: path.to_path_buf(),
            before: before.map(|bytes| Image {
                base64: BASE64_STANDARD.encode(bytes),
                mode: 0o640,
                uid: 0,
                gid: 0,
            }),
        }
    }

    #[test]
    fn a_file_that_was_not_there_is_removed_and_one_that_was_is_as_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("options.conf");
        for before in [None, Some(&b"options loop max_loop=8\n\xff"[..])] {
            let undo = put_back(&path, before);
            for change in [Some("other"), None] {
                let _ = fs::remove_file(&path);
                if let Some(text) = change {
                    fs::write(&path, text).unwrap();
                }
                undo.execute().unwrap();
                assert_eq!(fs::read(&path).ok().as_deref(), before);
                assert_eq!(undo.read_back().unwrap(), undo.wanted());
            }
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_content_or_mode_is_not_taken_for_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let undo = put_back(&path, Some(b"before"));
        undo.execute().unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_ne!(undo.read_back().unwrap(), undo.wanted());
        undo.execute().unwrap();
        fs::write(&path, "behind").unwrap();
        assert_ne!(undo.read_back().unwrap(), undo.wanted());
    }
}
