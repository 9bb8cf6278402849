//! A byte stream to a server: a Unix socket or TCP, plain or TLS, non-blocking except in waiting
//! calls.
//!
//! In: a server. Out: bytes. Used by the connections of every protocol.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustls::ClientConnection;

use super::error::{DbError, DbErrorKind, DbResult};
use super::server::Server;
use super::tls;

/// The least space for a read; an answer of a hundred rows fits.
const ROOM: usize = 16 << 10;

/// Received bytes that are not parsed yet.
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

    /// Removes the first `count` bytes, which have been parsed.
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

impl Read for Socket {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => socket.read(room),
            Socket::Tcp(socket) => socket.read(room),
        }
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Unix(socket) => socket.write(bytes),
            Socket::Tcp(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub struct Stream {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// The time limit of waiting calls.
    patience: Duration,
}

impl Stream {
    /// Connects, at most as long as the server's timeout.
    pub fn connect(server: &Server, usual_port: u16) -> DbResult<Stream> {
        let patience = server.timeout();
        let socket = connect(server, usual_port, patience).map_err(|cause| {
            DbError::new(DbErrorKind::Lost, "", format!("cannot connect: {cause}"))
        })?;
        Ok(Stream {
            socket,
            tls: None,
            patience,
        })
    }

    /// Encrypts everything from here on; waits for the handshake. All bytes read before must have
    /// been parsed: no byte received in clear may count as encrypted.
    pub fn start_tls(&mut self, server: &Server) -> DbResult<()> {
        let mut session = Box::new(tls::session(server)?);
        while session.is_handshaking() || session.wants_write() {
            self.flush(&mut session)?;
            if !session.is_handshaking() {
                break;
            }
            match session.read_tls(&mut self.socket) {
                Ok(0) => return Err(tls::failed("the server has closed the connection")),
                Ok(_) => {
                    if let Err(cause) = session.process_new_packets() {
                        // The alert informs the server, if it still listens.
                        let _ = self.flush(&mut session);
                        return Err(tls::failed(cause));
                    }
                }
                Err(cause) if would_wait(&cause) => self.wait(PollFlags::IN)?,
                Err(cause) => return Err(tls::failed(cause)),
            }
        }
        self.tls = Some(session);
        Ok(())
    }

    /// Whether nobody else can read the connection: encrypted, or within this machine.
    pub fn is_private(&self) -> bool {
        self.tls.is_some() || matches!(self.socket, Socket::Unix(_))
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        }
    }

    /// Adds received bytes without waiting; false where there are none.
    #[inline]
    pub fn read(&mut self, incoming: &mut Incoming) -> DbResult<bool> {
        let read = match &mut self.tls {
            None => self
                .socket
                .read(incoming.room())
                .inspect(|&moved| incoming.end += moved),
            Some(session) => decrypt(session, &mut self.socket, incoming),
        };
        match read {
            Ok(0) => Err(DbError::lost("the server has closed the connection")),
            Ok(_) => Ok(true),
            Err(cause) if would_wait(&cause) => Ok(false),
            Err(cause) => Err(DbError::lost(cause)),
        }
    }

    /// The same, but waits until bytes arrive.
    pub fn read_waiting(&mut self, incoming: &mut Incoming) -> DbResult<()> {
        while !self.read(incoming)? {
            self.wait(PollFlags::IN)?;
        }
        Ok(())
    }

    /// Writes all bytes; waits where the other side does not read.
    #[inline]
    pub fn write(&mut self, mut bytes: &[u8]) -> DbResult<()> {
        if let Some(mut session) = self.tls.take() {
            let written = self.encrypt(&mut session, bytes);
            self.tls = Some(session);
            return written;
        }
        while !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(moved) => bytes = &bytes[moved..],
                Err(cause) if would_wait(&cause) => self.wait(PollFlags::OUT)?,
                Err(cause) => return Err(DbError::lost(cause)),
            }
        }
        Ok(())
    }

    fn encrypt(&mut self, session: &mut ClientConnection, mut bytes: &[u8]) -> DbResult<()> {
        while !bytes.is_empty() {
            let written = session.writer().write(bytes).map_err(DbError::lost)?;
            bytes = &bytes[written..];
            self.flush(session)?;
        }
        Ok(())
    }

    fn flush(&mut self, session: &mut ClientConnection) -> DbResult<()> {
        while session.wants_write() {
            match session.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(cause) if would_wait(&cause) => self.wait(PollFlags::OUT)?,
                Err(cause) => return Err(DbError::lost(cause)),
            }
        }
        Ok(())
    }

    #[cold]
    fn wait(&self, events: PollFlags) -> DbResult<()> {
        let deadline = Instant::now() + self.patience;
        let mut sockets = [PollFd::from_borrowed_fd(self.fd(), events)];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).map_err(DbError::lost)?;
            match poll(&mut sockets, Some(&left)) {
                Ok(0) => {
                    return Err(DbError::lost(format!(
                        "the server has not answered for {} s",
                        self.patience.as_secs_f64()
                    )));
                }
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(cause) => return Err(DbError::lost(cause)),
            }
        }
    }
}

/// Processes all TLS data of one readable event. Data left in the session would not make the socket
/// readable again.
fn decrypt(
    session: &mut ClientConnection,
    socket: &mut Socket,
    incoming: &mut Incoming,
) -> io::Result<usize> {
    loop {
        let state = session.process_new_packets().map_err(io::Error::other)?;
        let come = state.plaintext_bytes_to_read();
        let mut left = come;
        while left > 0 {
            let moved = session.reader().read(incoming.room())?;
            incoming.end += moved;
            left -= moved;
        }
        if come > 0 || session.read_tls(socket)? == 0 {
            return Ok(come);
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
