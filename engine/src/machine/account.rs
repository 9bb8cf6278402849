//! Users and groups of this machine, from whatever name service it has.
//!
//! In: a name or a number. Out: the user or the group. Called by `supervise::process` before it forks,
//! since look-ups are not allowed afterwards, and by `folder::owner`.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

const ROOM: usize = 16 << 10;
const MOST_ROOM: usize = 4 << 20;
const MOST_GROUPS: usize = 1 << 16;

/// What a process needs to run as a user.
#[derive(Debug, PartialEq, Eq)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
    /// All groups, including `gid`.
    pub groups: Vec<u32>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub members: Vec<String>,
}

impl Account {
    pub fn of(name: &str) -> io::Result<Account> {
        let c_name = CString::new(name)?;
        let ids = look_up(
            // SAFETY: `c_name` is a C string, and `look_up` hands over memory as the call needs it.
            |record, room, length, entry| unsafe {
                libc::getpwnam_r(c_name.as_ptr(), record, room, length, entry)
            },
            |user: &libc::passwd| (user.pw_uid, user.pw_gid),
        )?;
        let (uid, gid) = ids.ok_or_else(|| io::Error::other(format!("there is no user {name}")))?;
        Ok(Account {
            uid,
            gid,
            groups: groups(&c_name, gid)?,
        })
    }
}

/// The user's name, else the number.
pub fn user_name(uid: u32) -> String {
    let name = look_up(
        // SAFETY: `look_up` hands over memory as the call needs it.
        |record, room, length, entry| unsafe { libc::getpwuid_r(uid, record, room, length, entry) },
        // SAFETY: the name of a user is a C string.
        |user: &libc::passwd| unsafe { text(user.pw_name) },
    );
    name.ok().flatten().unwrap_or_else(|| format!("user {uid}"))
}

/// The group of this number; `None` where there is none, or it cannot be looked up.
pub fn group(gid: u32) -> Option<Group> {
    let group = look_up(
        // SAFETY: `look_up` hands over memory as the call needs it.
        |record, room, length, entry| unsafe { libc::getgrgid_r(gid, record, room, length, entry) },
        // SAFETY: the name is a C string, and the members are C strings up to a null pointer.
        |group: &libc::group| unsafe {
            let members = (0..).map(|index| *group.gr_mem.add(index));
            Group {
                name: text(group.gr_name),
                members: members
                    .take_while(|name| !name.is_null())
                    .map(|name| text(name))
                    .collect(),
            }
        },
    );
    group.ok().flatten()
}

/// Calls a look-up of libc and reads the record that it fills; `None` where it finds no record.
fn look_up<R, T>(
    call: impl Fn(*mut R, *mut libc::c_char, usize, *mut *mut R) -> libc::c_int,
    read: impl FnOnce(&R) -> T,
) -> io::Result<Option<T>> {
    let mut record = MaybeUninit::<R>::uninit();
    let mut entry = ptr::null_mut();
    let mut room = vec![0; ROOM];
    loop {
        let length = room.len();
        match call(
            record.as_mut_ptr(),
            room.as_mut_ptr(),
            length,
            &raw mut entry,
        ) {
            0 => break,
            libc::ERANGE if length < MOST_ROOM => room.resize(2 * length, 0),
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
    }
    // SAFETY: after success `entry` is null or points to `record`, which the call has filled.
    let filled = unsafe { entry.as_ref() };
    Ok(filled.map(read))
}

/// # Safety
///
/// `name` must point to a C string.
unsafe fn text(name: *const libc::c_char) -> String {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_string_lossy().into_owned()
}

fn groups(name: &CString, gid: u32) -> io::Result<Vec<u32>> {
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
    fn root_is_number_zero_and_a_missing_user_is_an_error() {
        let root = Account::of("root").unwrap();
        assert_eq!((root.uid, root.gid), (0, 0));
        assert!(root.groups.contains(&0));
        assert!(Account::of("nobody-of-this-name").is_err());
    }

    #[test]
    fn names_are_looked_up_by_number() {
        assert_eq!(user_name(0), "root");
        assert_eq!(user_name(4_000_000_001), "user 4000000001");
        assert_eq!(group(0).unwrap().name, "root");
        assert_eq!(group(4_000_000_001), None);
    }
}
