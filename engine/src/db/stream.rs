//! A byte stream to a server: a Unix socket or TCP, plain or TLS, that never waits unless told to.
//!
//! In: a server. Out: bytes. Used by the connections of every protocol.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::error::{DbError, Kind, Result};
use super::server::Server;

/// Room that a read finds at least; an answer of a hundred rows fits.
const ROOM: usize = 16 << 10;

/// Bytes that have come and are not understood yet.
#[derive(Debug, Default)]
pub struct Incoming {
    /// Always wholly initialised, so that no read has to clear it.
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Incoming {
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// The first `count` bytes are understood.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start += count;
        debug_assert!(self.start <= self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Free memory to read into.
    fn room(&mut self) -> &mut [u8] {
        if self.bytes.len() - self.end < ROOM {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.bytes.len() - self.end < ROOM {
                self.bytes.resize((2 * self.bytes.len()).max(ROOM), 0);
            }
        }
        &mut self.bytes[self.end..]
    }
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

pub struct Stream {
    socket: Socket,
    /// How long to wait where waiting is wanted.
    patience: Duration,
}

impl Stream {
    /// Connects, at most as long as the server's timeout says.
    pub fn connect(server: &Server, usual_port: u16) -> Result<Stream> {
        let patience = server.timeout();
        let socket = connect(server, usual_port, patience)
            .map_err(|cause| DbError::new(Kind::Lost, "", format!("cannot connect: {cause}")))?;
        Ok(Stream { socket, patience })
    }

    pub fn fd(&self) -> RawFd {
        match &self.socket {
            Socket::Unix(socket) => socket.as_raw_fd(),
            Socket::Tcp(socket) => socket.as_raw_fd(),
        }
    }

    /// Adds what has come, without waiting; false where nothing has.
    #[inline]
    pub fn read(&mut self, incoming: &mut Incoming) -> Result<bool> {
        let room = incoming.room();
        let read = match &mut self.socket {
            Socket::Unix(socket) => socket.read(room),
            Socket::Tcp(socket) => socket.read(room),
        };
        match read {
            Ok(0) => Err(DbError::lost("the server has closed the connection")),
            Ok(moved) => {
                incoming.end += moved;
                Ok(true)
            }
            Err(cause) if would_wait(&cause) => Ok(false),
            Err(cause) => Err(DbError::lost(cause)),
        }
    }

    /// The same, but waits until something has come.
    pub fn read_waiting(&mut self, incoming: &mut Incoming) -> Result<()> {
        while !self.read(incoming)? {
            self.wait(libc::POLLIN)?;
        }
        Ok(())
    }

    /// Writes all of it; waits where the other side does not read.
    #[inline]
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let written = match &mut self.socket {
                Socket::Unix(socket) => socket.write(bytes),
                Socket::Tcp(socket) => socket.write(bytes),
            };
            match written {
                Ok(moved) => bytes = &bytes[moved..],
                Err(cause) if would_wait(&cause) => self.wait(libc::POLLOUT)?,
                Err(cause) => return Err(DbError::lost(cause)),
            }
        }
        Ok(())
    }

    #[cold]
    fn wait(&self, events: libc::c_short) -> Result<()> {
        let deadline = Instant::now() + self.patience;
        let mut poll = libc::pollfd {
            fd: self.fd(),
            events,
            revents: 0,
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left_ms = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
            // SAFETY: `poll` is one pollfd that lives during the call.
            match unsafe { libc::poll(&raw mut poll, 1, left_ms) } {
                0 => {
                    return Err(DbError::lost(format!(
                        "the server has not answered for {} s",
                        self.patience.as_secs_f64()
                    )));
                }
                1.. => return Ok(()),
                _ => {
                    let cause = io::Error::last_os_error();
                    if cause.kind() != ErrorKind::Interrupted {
                        return Err(DbError::lost(cause));
                    }
                }
            }
        }
    }
}

fn would_wait(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn connect(server: &Server, usual_port: u16, patience: Duration) -> io::Result<Socket> {
    if let Some(path) = &server.socket {
        let socket = UnixStream::connect(path)?;
        socket.set_nonblocking(true)?;
        return Ok(Socket::Unix(socket));
    }
    let port = server.port.unwrap_or(usual_port);
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (server.host(), port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                socket.set_nonblocking(true)?;
                return Ok(Socket::Tcp(socket));
            }
            Err(cause) => last = cause,
        }
    }
    Err(last)
}
