//! A kernel file that is read repeatedly.
//!
//! In: a path under /proc or /sys. Out: its present text. It stays open and is read with one call
//! into one buffer, which keeps sampling far below a percent of a core. Called by
//! `telemetry::sampler`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::{EngineError, Result};

#[derive(Debug)]
pub struct Source {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
}

const FIRST_SIZE: usize = 4096;

impl Source {
    pub fn open(path: impl AsRef<Path>) -> Result<Source> {
        let path = path.as_ref().to_path_buf();
        let file =
            File::open(&path).map_err(|cause| EngineError::from_io("open", &path, &cause))?;
        Ok(Source {
            file,
            path,
            buffer: vec![0; FIRST_SIZE],
        })
    }

    pub fn read(&mut self) -> Result<&str> {
        let length = self
            .fill()
            .map_err(|cause| EngineError::from_io("read", &self.path, &cause))?;
        // The content is ASCII; any other bytes fail to parse like any other unexpected text.
        Ok(std::str::from_utf8(&self.buffer[..length]).unwrap_or_default())
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut length = 0;
        loop {
            let read = self
                .file
                .read_at(&mut self.buffer[length..], length as u64)?;
            if read == 0 {
                return Ok(length);
            }
            length += read;
            if length == self.buffer.len() {
                self.buffer.resize(length * 2, 0);
            }
        }
    }
}
