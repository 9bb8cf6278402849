//! The manifest of an experiment's data folder, which names the experiment.
//!
//! In: a folder. Out: its manifest. Called by `folder::experiment`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::TrustedFolder;
use crate::error::{Class, EngineError, Result};

pub const MANIFEST: &str = "paribus.experiment.json";
/// The manifest until it is complete.
pub const UNFINISHED: &str = "paribus.experiment.json.new";
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    pub experiment: String,
    pub made_unix_s: f64,
    /// Details from the controller: the plan's name, the store, the user.
    pub about: Value,
}

impl Manifest {
    /// `None` where the folder has none.
    pub fn read(folder: &TrustedFolder) -> Result<Option<Manifest>> {
        let path = folder.path().join(MANIFEST);
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let mut text = String::new();
        match folder.open_file(OsStr::new(MANIFEST), flags, 0) {
            Ok(file) => file.take(MOST_BYTES).read_to_string(&mut text),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => Err(cause),
        }
        .map_err(|cause| EngineError::from_io("read", &path, &cause))?;
        serde_json::from_str(&text).map(Some).map_err(|cause| {
            let message = format!("{} is damaged: {cause}", path.display());
            EngineError::new(Class::NotOurs, message, "remove the folder by hand").at(&path)
        })
    }

    /// Writes it so that it is complete after any interruption.
    pub fn write(&self, folder: &TrustedFolder) -> Result<()> {
        let path = folder.path().join(MANIFEST);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        let written = folder
            .open_file(OsStr::new(UNFINISHED), flags, 0o600)
            .and_then(|mut file: File| {
                file.write_all(text.as_bytes())?;
                file.write_all(b"\n")?;
                file.sync_all()
            })
            .and_then(|()| {
                let descriptor = folder.descriptor();
                rustix::fs::renameat(&descriptor, UNFINISHED, &descriptor, MANIFEST)?;
                Ok(rustix::fs::fsync(folder.readable()?)?)
            });
        written.map_err(|cause| EngineError::from_io("write", &path, &cause))
    }
}
