//! The file system itself: one flat folder passed through, with a decision for each read, write and
//! fsync.
//!
//! In: requests of the kernel. Out: answers. Called by `fuser`. Nothing is cached for the kernel,
//! so that with O_DIRECT one operation of the engine is one request here.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};

use super::{Answer, Disk, Kind};

const NOTHING_CACHED: Duration = Duration::ZERO;
const BLOCK_BYTES: u32 = 4096;
const MOST_AT_ONCE: u16 = 256;

pub struct Pass {
    folder: PathBuf,
    disk: Arc<Disk>,
    /// Names by number: file `n` has inode `n + 2`.
    names: Mutex<Vec<OsString>>,
}

impl Pass {
    pub fn over(folder: &Path, disk: Arc<Disk>) -> Pass {
        Pass {
            folder: folder.to_path_buf(),
            disk,
            names: Mutex::default(),
        }
    }

    fn path(&self, inode: INodeNo) -> PathBuf {
        let names = self.names.lock().unwrap();
        let name = (inode.0 as usize)
            .checked_sub(2)
            .and_then(|number| names.get(number));
        name.map_or_else(|| self.folder.clone(), |name| self.folder.join(name))
    }

    fn inode(&self, name: &OsStr) -> INodeNo {
        let mut names = self.names.lock().unwrap();
        let number = names.iter().position(|other| other == name);
        let number = number.unwrap_or_else(|| {
            names.push(name.to_os_string());
            names.len() - 1
        });
        INodeNo(number as u64 + 2)
    }

    fn attributes(&self, inode: INodeNo) -> Result<FileAttr, Errno> {
        Ok(attributes_of(inode, &fs::metadata(self.path(inode))?))
    }

    /// Handles an operation on a separate thread, so that a delay blocks no other one. Only data
    /// files have faults; the manifest next to them has none.
    fn on_file(
        &self,
        inode: INodeNo,
        (kind, offset, length): (Kind, u64, u64),
        work: impl FnOnce(Answer, io::Result<File>) + Send + 'static,
    ) {
        let (disk, path) = (Arc::clone(&self.disk), self.path(inode));
        thread::spawn(move || {
            let answer = if path.to_string_lossy().contains("manifest") {
                Answer::Honest
            } else {
                disk.decide(kind, offset, length)
            };
            work(answer, OpenOptions::new().read(true).write(true).open(path));
        });
    }
}

fn attributes_of(inode: INodeNo, metadata: &Metadata) -> FileAttr {
    let is_folder = metadata.is_dir();
    FileAttr {
        ino: inode,
        size: metadata.len(),
        blocks: metadata.blocks(),
        atime: SystemTime::UNIX_EPOCH,
        mtime: SystemTime::UNIX_EPOCH,
        ctime: SystemTime::UNIX_EPOCH,
        crtime: SystemTime::UNIX_EPOCH,
        kind: if is_folder {
            FileType::Directory
        } else {
            FileType::RegularFile
        },
        perm: if is_folder { 0o755 } else { 0o644 },
        nlink: metadata.nlink() as u32,
        uid: metadata.uid(),
        gid: metadata.gid(),
        rdev: 0,
        blksize: BLOCK_BYTES,
        flags: 0,
    }
}

/// With O_DIRECT the kernel passes on any number of operations, each unchanged.
fn way_of(flags: i32) -> FopenFlags {
    if flags & libc::O_DIRECT == 0 {
        FopenFlags::empty()
    } else {
        FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
    }
}

fn read(file: &File, offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    let moved = file.read_at(&mut bytes, offset)?;
    bytes.truncate(moved);
    Ok(bytes)
}

impl Filesystem for Pass {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Otherwise io_uring would wait in submission, and the kernel would pass on few operations
        // at a time.
        let capability = InitFlags::FUSE_ASYNC_DIO;
        let lacking = |_| io::Error::other("this kernel's FUSE has no asynchronous direct I/O");
        config.add_capabilities(capability).map_err(lacking)?;
        config
            .set_max_background(MOST_AT_ONCE)
            .map(drop)
            .map_err(|most| io::Error::other(format!("at most {most} requests at once")))
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match fs::metadata(self.folder.join(name)) {
            Ok(metadata) => {
                let attributes = attributes_of(self.inode(name), &metadata);
                reply.entry(&NOTHING_CACHED, &attributes, Generation(0));
            }
            Err(cause) => reply.error(cause.into()),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Ok(attributes) => reply.attr(&NOTHING_CACHED, &attributes),
            Err(errno) => reply.error(errno),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let resized = size.map_or(Ok(()), |size| {
            let file = OpenOptions::new().write(true).open(self.path(inode))?;
            file.set_len(size)
        });
        let resized = resized.map_err(Errno::from);
        match resized.and_then(|()| self.attributes(inode)) {
            Ok(attributes) => reply.attr(&NOTHING_CACHED, &attributes),
            Err(errno) => reply.error(errno),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), way_of(flags.0));
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = u64::from(size);
        self.on_file(inode, (Kind::Read, offset, length), move |answer, file| {
            let length = match answer {
                Answer::Error(errno) => return reply.error(Errno::from_i32(errno)),
                Answer::Short(bytes) => bytes,
                _ => length,
            };
            match file.and_then(|file| read(&file, offset, length)) {
                Ok(bytes) => reply.data(&bytes),
                Err(cause) => reply.error(cause.into()),
            }
        });
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let data = data.to_vec();
        let whole = data.len() as u64;
        self.on_file(inode, (Kind::Write, offset, whole), move |answer, file| {
            let (position, kept_bytes, reported_bytes) = match answer {
                Answer::Honest => (offset, whole, whole),
                Answer::Error(errno) => return reply.error(Errno::from_i32(errno)),
                Answer::Short(bytes) => (offset, bytes, bytes),
                Answer::Lose => (offset, 0, whole),
                Answer::Misplace(further) => (offset + further, whole, whole),
                Answer::Tear(bytes) => (offset, bytes, whole),
            };
            match file.and_then(|file| file.write_all_at(&data[..kept_bytes as usize], position)) {
                Ok(()) => reply.written(reported_bytes as u32),
                Err(cause) => reply.error(cause.into()),
            }
        });
    }

    fn fsync(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.on_file(inode, (Kind::Fsync, 0, 0), |answer, file| match answer {
            Answer::Error(errno) => reply.error(Errno::from_i32(errno)),
            _ => match file.and_then(|file| file.sync_all()) {
                Ok(()) => reply.ok(),
                Err(cause) => reply.error(cause.into()),
            },
        });
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        match File::create(self.folder.join(name)).and_then(|file| file.metadata()) {
            Ok(metadata) => reply.created(
                &NOTHING_CACHED,
                &attributes_of(self.inode(name), &metadata),
                Generation(0),
                FileHandle(0),
                way_of(flags),
            ),
            Err(cause) => reply.error(cause.into()),
        }
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _: INodeNo,
        fresh: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        match fs::rename(self.folder.join(name), self.folder.join(fresh)) {
            Ok(()) => {
                // A process with the file open continues under the new name.
                let number = self.inode(name).0 as usize - 2;
                let mut names = self.names.lock().unwrap();
                names
                    .iter_mut()
                    .filter(|other| *other == fresh)
                    .for_each(|old| old.clear());
                names[number] = fresh.to_os_string();
                reply.ok();
            }
            Err(cause) => reply.error(cause.into()),
        }
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match fs::remove_file(self.folder.join(name)) {
            Ok(()) => reply.ok(),
            Err(cause) => reply.error(cause.into()),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = 1 << 20;
        reply.statfs(
            blocks,
            blocks,
            blocks,
            1000,
            1000,
            BLOCK_BYTES,
            255,
            BLOCK_BYTES,
        );
    }
}
