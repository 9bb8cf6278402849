//! Blocking exchange of whole packets, for all unmeasured work.
//!
//! In: a stream. Out: packets, assembled from their parts. Used by `Connection` to log in, to
//! prepare and to query.

use super::packet::{self, HEAD, LONGEST};
use super::rows::Packets;
use crate::db::error::{DbError, DbResult};
use crate::db::server::Server;
use crate::db::stream::{Incoming, Stream};

pub struct Wire {
    pub stream: Stream,
    pub incoming: Incoming,
    /// The number of the last received packet.
    sequence: u8,
}

impl Wire {
    pub fn new(stream: Stream) -> Wire {
        Wire {
            stream,
            incoming: Incoming::default(),
            sequence: 0,
        }
    }

    /// Sends the first packet of a conversation.
    pub fn command(&mut self, command: u8, text: &str) -> DbResult<()> {
        self.send(&[&[command], text.as_bytes()], 0)
    }

    /// Sends a further packet of the conversation, before the server sends another.
    pub fn add(&mut self, payload: &[u8]) -> DbResult<()> {
        self.sequence = self.sequence.wrapping_add(1);
        self.send(&[payload], self.sequence)
    }

    /// Encrypts from here on; the next packet continues the conversation.
    pub fn encrypt(&mut self, server: &Server) -> DbResult<()> {
        if !self.incoming.bytes().is_empty() {
            return Err(DbError::protocol(
                "the server continues in clear text where TLS should begin",
            ));
        }
        // The request for TLS has a number too.
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.start_tls(server)
    }

    fn send(&mut self, parts: &[&[u8]], sequence: u8) -> DbResult<()> {
        let mut out = Vec::new();
        packet::begin(&mut out);
        parts.iter().for_each(|part| out.extend_from_slice(part));
        packet::finish(&mut out, sequence);
        self.stream.write(&out)
    }
}

impl Packets for Wire {
    fn next(&mut self) -> DbResult<Vec<u8>> {
        let mut whole = Vec::new();
        loop {
            let bytes = self.incoming.bytes();
            if let Some((length, sequence)) = packet::head(bytes)
                && let Some(payload) = bytes.get(HEAD..HEAD + length)
            {
                whole.extend_from_slice(payload);
                self.incoming.consume(HEAD + length);
                self.sequence = sequence;
                if length < LONGEST {
                    return Ok(whole);
                }
            } else {
                self.stream.read_waiting(&mut self.incoming)?;
            }
        }
    }
    /// Answers the last received packet.
    fn reply(&mut self, payload: &[u8]) -> DbResult<()> {
        self.send(&[payload], self.sequence.wrapping_add(1))
    }
}
