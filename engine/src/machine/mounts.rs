//! The mounts of this process, as /proc/self/mountinfo shows them.
//!
//! In: nothing. Out: mounts, in the order in which they were made. Called by `journal::action` and
//! `probe`.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::process::pids;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The number of its device, as `8:1`.
    pub major_minor: String,
    pub point: PathBuf,
    /// The flags of the mount point: `rw,noatime`.
    pub flags: String,
    pub filesystem: String,
    pub source: String,
    /// The options of the file system: `rw,commit=60`.
    pub options: String,
}

pub fn present() -> io::Result<Vec<Mount>> {
    let text = fs::read("/proc/self/mountinfo")?;
    Ok(parse(&String::from_utf8_lossy(&text)))
}

/// A process in whose mount namespace this source is mounted, and where it is mounted there.
pub fn holder(source: &str) -> Option<(u32, PathBuf)> {
    pids().into_iter().find_map(|pid| {
        let text = fs::read(format!("/proc/{pid}/mountinfo")).ok()?;
        let mounts = parse(&String::from_utf8_lossy(&text));
        let mount = mounts.into_iter().find(|mount| mount.source == source)?;
        Some((pid, mount.point))
    })
}

/// The mounts in a text like that of mountinfo.
pub fn parse(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mount: Vec<&str> = mount.split(' ').collect();
    let mut filesystem = filesystem.split(' ');
    Some(Mount {
        major_minor: mount.get(2)?.to_string(),
        point: unescaped(mount.get(4)?).into(),
        flags: mount.get(5)?.to_string(),
        filesystem: filesystem.next()?.to_string(),
        source: unescaped(filesystem.next()?),
        options: filesystem.next()?.to_string(),
    })
}

/// The kernel writes a blank as `\040`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                plain.push(code);
                plain.extend(part.bytes().skip(3));
            }
            None => plain.extend(b"\\".iter().chain(part.as_bytes())),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_and_options_are_apart_and_blanks_are_unescaped() {
        let mounts = parse(
            "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,errors=remount-ro\n\
             40 22 7:0 / /data\\040base rw,nosuid shared:3 master:1 - xfs /dev/a\\040b rw,inode64\n",
        );
        assert_eq!(mounts[0].point, PathBuf::from("/"));
        let data = Mount {
            major_minor: "7:0".into(),
            point: "/data base".into(),
            flags: "rw,nosuid".into(),
            filesystem: "xfs".into(),
            source: "/dev/a b".into(),
            options: "rw,inode64".into(),
        };
        assert_eq!(mounts[1..], [data]);
    }
}
