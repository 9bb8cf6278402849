//! Waiting for many sockets at once.
//!
//! In: file descriptors, each with a slot. Out: the slots with data to read. Called by
//! `workload::sql::socket`.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::ptr;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use crate::clock::{self, Nanos, SECOND};
use crate::error::{EngineError, Result};
use crate::operation::Slot;

/// The most events of one wait; the next wait returns the others.
const BATCH: usize = 64;

pub struct Epoll {
    epoll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Epoll {
    pub fn new() -> Result<Epoll> {
        Ok(Epoll {
            epoll: epoll::create(CreateFlags::CLOEXEC)
                .map_err(|cause| failed("create", &cause.into()))?,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; BATCH],
        })
    }

    /// Watches a socket; closing the socket ends the watch.
    pub fn add(&mut self, socket: impl AsFd, slot: Slot) -> Result<()> {
        let data = EventData::new_u64(slot as u64);
        epoll::add(&self.epoll, socket, data, EventFlags::IN)
            .map_err(|cause| failed("add a socket to", &cause.into()))
    }

    /// Stops watching a socket that stays open.
    pub fn remove(&mut self, socket: impl AsFd) -> Result<()> {
        epoll::delete(&self.epoll, socket)
            .map_err(|cause| failed("remove a socket from", &cause.into()))
    }

    /// Waits until some socket has data to read, or until `deadline`.
    pub fn wait(&mut self, deadline: Option<Nanos>, ready: &mut Vec<Slot>) -> Result<()> {
        ready.clear();
        let left = deadline.map(|deadline| {
            let left = deadline.saturating_sub(clock::now());
            libc::timespec {
                tv_sec: (left / SECOND) as _,
                tv_nsec: (left % SECOND) as libc::c_long,
            }
        });
        let count = self.wait_for(left.as_ref());
        if count < 0 {
            let cause = io::Error::last_os_error();
            if cause.kind() == io::ErrorKind::Interrupted {
                return Ok(());
            }
            return Err(failed("wait on", &cause));
        }
        let events = &self.events[..count as usize];
        ready.extend(events.iter().map(|event| event.u64 as Slot));
        Ok(())
    }

    /// The number of events. The time limit is in nanoseconds (Linux 5.11), since an open loop
    /// needs a finer one than the milliseconds of `epoll_wait`. rustix would round it to
    /// milliseconds, or need Linux 5.11 without a limit too.
    fn wait_for(&mut self, left: Option<&libc::timespec>) -> libc::c_long {
        let (epoll, events) = (self.epoll.as_raw_fd(), self.events.as_mut_ptr());
        let Some(left) = left else {
            // SAFETY: the kernel writes at most BATCH events into as many.
            return unsafe { libc::epoll_wait(epoll, events, BATCH as i32, -1) }.into();
        };
        // SAFETY: as above, and `left` lives during the call; there is no signal mask.
        unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                epoll,
                events,
                BATCH as i32,
                ptr::from_ref(left),
                ptr::null::<libc::sigset_t>(),
                0usize,
            )
        }
    }
}

#[cold]
fn failed(action: &str, cause: &io::Error) -> EngineError {
    EngineError::from_io(action, Path::new("an epoll instance"), cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn only_those_with_something_to_read_are_told() {
        let mut epoll = Epoll::new().unwrap();
        let pairs: Vec<_> = (0..3).map(|_| UnixStream::pair().unwrap()).collect();
        for (slot, (socket, _)) in pairs.iter().enumerate() {
            epoll.add(socket, slot).unwrap();
        }
        let mut ready = Vec::new();
        let start = clock::now();
        epoll.wait(Some(start + SECOND / 500), &mut ready).unwrap();
        assert!(ready.is_empty() && clock::now() - start >= SECOND / 500);
        (&pairs[1].1).write_all(b"x").unwrap();
        epoll.wait(None, &mut ready).unwrap();
        assert_eq!(ready, [1]);
    }
}
