//! Standard input as messages: one thread reads lines, so that no other thread blocks on stdin.
//!
//! In: a reader. Out: `Input` values on a channel, the last of them always `End`. Called by `run`,
//! `telemetry` and `journal::keeper`, which treat the end of input as the loss of the controller.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

/// Larger than any job or command. A stream without newlines must not exhaust the memory.
const LINE_LIMIT_BYTES: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Line(String),
    End,
}

/// Standard input that also ends after too long a silence, since a cut connection is reported to
/// neither side. The sender sends blank lines in idle times.
pub struct Listener {
    stdin: File,
    patience: Option<Duration>,
}

/// Without `patience`, silence never ends the input.
pub fn listen(patience: Option<Duration>) -> io::Result<Listener> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(Listener {
        stdin: stdin.into(),
        patience,
    })
}

impl Read for Listener {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(patience) = self.patience {
            let mut heard = libc::pollfd {
                fd: self.stdin.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            let limit_ms = i32::try_from(patience.as_millis()).unwrap_or(i32::MAX);
            // SAFETY: one descriptor that `stdin` keeps open, and memory for one answer.
            if unsafe { libc::poll(&raw mut heard, 1, limit_ms) } == 0 {
                eprintln!(
                    "paribus-engine: nothing was heard for {} s, so the controller is taken for gone",
                    patience.as_secs()
                );
                return Ok(0);
            }
        }
        self.stdin.read(buffer)
    }
}

/// Reads `reader` to its end on a separate thread. Sends each non-empty line, wrapped for the
/// receiver's own message type.
pub fn forward<M: Send + 'static>(
    reader: impl Read + Send + 'static,
    sender: Sender<M>,
    wrap: fn(Input) -> M,
) -> std::io::Result<()> {
    thread::Builder::new().name("stdin".into()).spawn(move || {
        let mut reader = BufReader::new(reader);
        while let Some(line) = next_line(&mut reader) {
            if sender.send(wrap(Input::Line(line))).is_err() {
                return;
            }
        }
        // Sending fails only when the receiver has gone.
        let _ = sender.send(wrap(Input::End));
    })?;
    Ok(())
}

/// The next line that is not blank; `None` at the end of input, on a read error and past the limit.
fn next_line(reader: &mut impl BufRead) -> Option<String> {
    loop {
        let mut bytes = Vec::new();
        let read = reader
            .by_ref()
            .take(LINE_LIMIT_BYTES)
            .read_until(b'\n', &mut bytes)
            .ok()?;
        if read == 0 || (read as u64 == LINE_LIMIT_BYTES && bytes.last() != Some(&b'\n')) {
            return None;
        }
        let line = String::from_utf8_lossy(&bytes);
        if !line.trim().is_empty() {
            return Some(line.trim().to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_come_in_order_and_the_end_is_always_told() {
        let (sender, receiver) = channel();
        forward(&b"one\n\n  two  \nthree"[..], sender, |input| input).unwrap();
        let all: Vec<Input> = receiver.iter().collect();
        let line = |text: &str| Input::Line(text.into());
        assert_eq!(all, [line("one"), line("two"), line("three"), Input::End]);
    }
}
