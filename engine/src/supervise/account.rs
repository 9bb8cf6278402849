//! A user of this machine, by name.
//!
//! In: a name. Out: the user and group ids for a process of this user. Called by
//! `supervise::process` before it forks: look-ups are not allowed afterwards.

use std::ffi::CString;
use std::io;

#[derive(Debug, PartialEq, Eq)]
pub struct Account {
    pub uid: libc::uid_t,
    pub gid: libc::gid_t,
    /// All groups, including `gid`.
    pub groups: Vec<libc::gid_t>,
}

const ROOM: usize = 16 << 10;
const MOST_GROUPS: usize = 1 << 16;

impl Account {
    pub fn of(name: &str) -> io::Result<Account> {
        let c_name = CString::new(name)?;
        let mut room = vec![0; ROOM];
        // SAFETY: `passwd` is plain numbers and pointers, for which all zeroes is a value.
        let mut passwd: libc::passwd = unsafe { std::mem::zeroed() };
        let mut entry = std::ptr::null_mut();
        // SAFETY: every pointer is to memory that lives during the call, `room` with its length.
        let errno = unsafe {
            libc::getpwnam_r(
                c_name.as_ptr(),
                &raw mut passwd,
                room.as_mut_ptr(),
                room.len(),
                &raw mut entry,
            )
        };
        if errno != 0 {
            return Err(io::Error::from_raw_os_error(errno));
        }
        if entry.is_null() {
            return Err(io::Error::other(format!("there is no user {name}")));
        }
        Ok(Account {
            uid: passwd.pw_uid,
            gid: passwd.pw_gid,
            groups: groups(&c_name, passwd.pw_gid)?,
        })
    }
}

fn groups(name: &CString, gid: libc::gid_t) -> io::Result<Vec<libc::gid_t>> {
    let mut count = 64;
    while count <= MOST_GROUPS {
        let mut groups = vec![0; count];
        let mut length = libc::c_int::try_from(count).map_err(io::Error::other)?;
        // SAFETY: `groups` has room for `length` numbers, and `name` ends with a zero.
        let done =
            unsafe { libc::getgrouplist(name.as_ptr(), gid, groups.as_mut_ptr(), &raw mut length) };
        if done >= 0 {
            groups.truncate(usize::try_from(length).map_err(io::Error::other)?);
            return Ok(groups);
        }
        count *= 4;
    }
    Err(io::Error::other("the user is in too many groups"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_number_zero_and_who_is_not_there_is_an_error() {
        let root = Account::of("root").unwrap();
        assert_eq!((root.uid, root.gid), (0, 0));
        assert!(root.groups.contains(&0));
        assert!(Account::of("nobody-of-this-name").is_err());
    }
}
