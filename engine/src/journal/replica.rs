//! One of the two files of a journal: the journal itself, or its copy.
//!
//! In: lines. Out: a file that begins with their number and ends with a complete line, after any
//! interruption. Called by `journal::file`, `journal::open_journal` and `journal::directory`. A
//! file is created completely or not at all, so a file without a header was damaged.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{
    DirBuilderExt, FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt,
};
use std::path::{Path, PathBuf};

use super::line::{self, Reading};
use super::lock::try_lock;
use crate::error::{Class, EngineError, Result};
use crate::folder::TrustedFolder;
use crate::machine;

const OTHERS_WRITE: u32 = 0o022;
const OTHERS: u32 = 0o077;

/// An open file of a journal, locked by this process.
#[derive(Debug)]
pub struct Replica {
    pub path: PathBuf,
    file: File,
    /// The length up to the last complete line.
    length: u64,
    /// The count of acknowledged lines at its beginning; `None` where it has none.
    acknowledged: Option<u64>,
    /// Set when a failed append could not be removed: then no further append is possible.
    is_broken: bool,
}

impl Replica {
    /// Creates a locked file of `acknowledged` lines, or replaces the present one.
    pub fn create(path: &Path, acknowledged: u64, lines: &str) -> io::Result<Replica> {
        let text = line::encode_count(acknowledged) + lines;
        Ok(Replica {
            path: path.to_path_buf(),
            file: write_whole(path, &text)?,
            length: text.len() as u64,
            acknowledged: Some(acknowledged),
            is_broken: false,
        })
    }

    /// Takes over a file without an owner, given its locked file. An incomplete last line stays as
    /// an unusable line where it `is_damage`. Otherwise it was never acknowledged, and is removed.
    pub fn adopt(path: &Path, file: File, reading: &Reading, is_damage: bool) -> Replica {
        // Ends the last line, so that a new one does not join it. A read-only file stays as it is.
        let ended = match &reading.torn {
            None if !reading.lacks_newline => Ok(()),
            Some(_) if !is_damage => file.set_len(reading.complete_bytes),
            _ => end_line(&file),
        };
        let length = file.metadata().map(|metadata| metadata.len());
        Replica {
            path: path.to_path_buf(),
            acknowledged: reading.acknowledged.filter(|_| reading.has_count),
            file,
            is_broken: ended.is_err() || length.is_err(),
            length: length.unwrap_or(reading.complete_bytes),
        }
    }

    /// Appends line `number`, which then survives a power cut; after an error the file is as
    /// before.
    pub fn append(&mut self, number: u64, text: &str) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("an earlier line is incomplete"));
        }
        let written = self
            .file
            .write_all_at(text.as_bytes(), self.length)
            .and_then(|()| self.file.sync_data())
            .and_then(|()| self.acknowledge(number));
        match written {
            Ok(()) => self.length += text.len() as u64,
            Err(_) => self.is_broken = self.file.set_len(self.length).is_err(),
        }
        written
    }

    /// Removes the count of lines, since a line is missing.
    pub fn remove_count(&mut self) {
        if self.acknowledged.take().is_some() {
            // Overwrites the count in place, so that a full disk does not matter.
            let blank = line::encode_count(0).replace(|character| character != '\n', " ");
            self.is_broken |= self.file.write_all_at(blank.as_bytes(), 0).is_err();
        }
    }

    /// After a power cut the count may be too low by one: then the line exists, and is used.
    fn acknowledge(&mut self, number: u64) -> io::Result<()> {
        let Some(acknowledged) = self.acknowledged.map(|before| before.max(number)) else {
            return Ok(());
        };
        let count = line::encode_count(acknowledged);
        self.file.write_all_at(count.as_bytes(), 0)?;
        self.acknowledged = Some(acknowledged);
        Ok(())
    }
}

fn end_line(file: &File) -> io::Result<()> {
    file.write_all_at(b"\n", file.metadata()?.len())
}

/// Creates a locked file of this text; it gets its name only when it is complete on the disk.
pub fn write_whole(path: &Path, text: &str) -> io::Result<File> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no directory"));
    };
    let fresh = directory.join(format!(".{}", name.to_string_lossy()));
    match fs::remove_file(&fresh) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {} // one that was cut off while it was made
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    let locked = try_lock(&file)
        .and_then(|_| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&fresh, path))
        .and_then(|()| sync_directory(path));
    if let Err(cause) = locked {
        let _ = fs::remove_file(&fresh);
        return Err(cause);
    }
    Ok(file)
}

/// Removes a file of this user's own directory, or a directory that damage left in its place.
pub fn remove(path: &Path) {
    if let Err(cause) = fs::remove_file(path)
        && cause.kind() == io::ErrorKind::IsADirectory
    {
        let _ = fs::remove_dir_all(path);
    }
}

/// The kind of an entry that is no readable file, as words.
pub fn kind(path: &Path) -> String {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return "unreadable".into();
    };
    let kind = metadata.file_type();
    let name = match () {
        () if kind.is_symlink() => "a symbolic link",
        () if kind.is_dir() => "a directory",
        () if kind.is_fifo() => "a FIFO",
        () if kind.is_socket() => "a socket",
        () => "a device",
    };
    name.into()
}

/// Creates a directory for journals that only this user can enter, or checks an existing one.
pub fn private_directory(directory: &Path) -> Result<()> {
    TrustedFolder::open(&machine::nearest_existing(directory)).map_err(stranger)?;
    let created = DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory);
    created.map_err(|cause| write_error(directory, &cause))?;
    let metadata = trusted_directory(directory)?;
    if metadata.mode() & OTHERS != 0 {
        let private = fs::Permissions::from_mode(metadata.mode() & 0o7700);
        fs::set_permissions(directory, private).map_err(|cause| write_error(directory, &cause))?;
    }
    Ok(())
}

/// Checks that a directory belongs to this user, and that nobody else can write to it.
pub fn trusted_directory(directory: &Path) -> Result<fs::Metadata> {
    let metadata = fs::symlink_metadata(directory)
        .map_err(|cause| EngineError::from_io("examine", directory, &cause))?;
    if !metadata.is_dir() {
        return Err(EngineError::new(
            Class::JournalStranger,
            format!(
                "cannot read the journals in {}: it is {}, not a directory",
                directory.display(),
                if metadata.is_file() {
                    "a file".into()
                } else {
                    kind(directory)
                }
            ),
            "move it away, or name another directory with PARIBUS_STATE",
        )
        .at(directory));
    }
    refuse_stranger(&metadata, directory)?;
    TrustedFolder::open(directory).map_err(stranger)?;
    Ok(metadata)
}

/// A user who can replace the directory could have any action executed.
fn stranger(error: EngineError) -> EngineError {
    match error.class {
        Class::UntrustedFolder => EngineError {
            class: Class::JournalStranger,
            message: format!("journals cannot be kept here: {}", error.message),
            hint: "name another directory with PARIBUS_STATE, or remove the write permission of other users (chmod go-w)".into(),
            ..error
        },
        _ => error,
    }
}

/// An undo executes a journal's actions, so nobody else may have written it.
pub fn refuse_stranger(metadata: &fs::Metadata, path: &Path) -> Result<()> {
    let user = machine::user();
    let reason = if metadata.mode() & OTHERS_WRITE != 0 {
        "other users may write to it".to_string()
    } else if metadata.uid() != user {
        format!("it belongs to user {}, not to user {user}", metadata.uid())
    } else {
        return Ok(());
    };
    Err(EngineError::new(
        Class::JournalStranger,
        format!("the journal {} is not trusted: {reason}", path.display()),
        "undo it as its owner; or check its content, then make it yours (chown, chmod go-w)",
    )
    .at(path))
}

/// Makes the creation, renaming or removal of `path` survive a power cut.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    File::open(directory).and_then(|directory| directory.sync_all())
}

pub fn write_error(path: &Path, cause: &io::Error) -> EngineError {
    EngineError::new(
        Class::JournalWrite,
        format!("cannot write the journal {}: {cause}", path.display()),
        "nothing was changed; free space or give write permission there, or set PARIBUS_STATE to another directory",
    )
    .at(path)
}
