//! The format of a journal: lines with a checksum.
//!
//! In: records, or the bytes of a file. Out: text to append, or the records and the unusable lines.
//! Called by `journal::replica`, `journal::file` and `journal::contents`.
//!
//! A line is a JSON object that a person can read. Its undo needs no other line. Its last key is
//! the CRC-32 of the object without that key. Line 1 is the header, `open`; the last line of a
//! finished journal is `closed`. Before line 1 stands the number of acknowledged lines. Without it,
//! a file cut at the end of a line would look complete.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::Action;
use crate::device::DeviceIdentity;

pub const VERSION: u32 = 2;
/// The last version without a count of the lines.
const UNCOUNTED: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    pub version: u32,
    pub experiment: String,
    pub line: u64,
    pub time: String,
    pub boot_id: String,
    #[serde(flatten)]
    pub record: Record,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    Open {
        addresses: Vec<String>,
        global: bool,
        /// Its order among the journals of its directory, independent of the clock.
        #[serde(default)]
        sequence: u64,
    },
    Change(Change),
    /// The change in line `of` was undone.
    Restored {
        of: u64,
    },
    /// All changes so far stay until a user requests their undo.
    Kept,
    Closed,
}

/// A change about to be made, with all data for its undo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub knob: String,
    pub address: String,
    pub before: Value,
    pub wanted: Value,
    pub undo: Vec<Action>,
    /// Whether it survives a reboot.
    pub persistent: bool,
    /// The block device of the setting, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Box<DeviceIdentity>>,
}

/// The parsed bytes of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    pub lines: Vec<Line>,
    /// The unusable lines.
    pub damaged: Vec<LineDamage>,
    /// The length up to the last complete line.
    pub complete_bytes: u64,
    /// The incomplete last line.
    pub torn: Option<String>,
    /// Whether the last line is complete but for its newline.
    pub lacks_newline: bool,
    /// Whether the file begins with a count, even a damaged one.
    pub has_count: bool,
    /// The number of acknowledged lines; `None` where the file has no valid count.
    pub acknowledged: Option<u64>,
}

/// A line that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDamage {
    pub line: u64,
    pub reason: String,
}

impl Reading {
    /// The number of the last line, usable or not.
    pub fn last(&self) -> u64 {
        let usable = self.lines.iter().map(|line| line.line);
        let damaged = self.damaged.iter().map(|damage| damage.line);
        usable.chain(damaged).max().unwrap_or(0)
    }

    /// Whether nothing is missing, damaged or incomplete.
    pub fn is_whole(&self) -> bool {
        self.has_count
            && self.acknowledged.is_some()
            && self.damaged.is_empty()
            && self.torn.is_none()
            && !self.lacks_newline
    }

    pub fn has_header(&self) -> bool {
        self.lines.iter().any(is_header)
    }
}

pub fn is_header(line: &Line) -> bool {
    line.line == 1 && matches!(line.record, Record::Open { .. })
}

/// The number of acknowledged lines.
#[derive(Debug, Serialize, Deserialize)]
struct Count {
    acknowledged: u64,
}

/// `,"crc32":"0123abcd"}`
const SEAL_BYTES: usize = 20;
/// `{"acknowledged":12      }`, sealed, and its newline: of constant length, so that it can be
/// overwritten.
const COUNT_BYTES: usize = 46;

pub fn encode(line: &Line) -> serde_json::Result<String> {
    Ok(seal(&serde_json::to_string(line)?))
}

/// The first line of a file: `acknowledged` lines follow it.
pub fn encode_count(acknowledged: u64) -> String {
    seal(&format!("{{\"acknowledged\":{acknowledged:<9}}}"))
}

/// The JSON object `text` with its checksum, as a line.
fn seal(text: &str) -> String {
    let crc = crc32fast::hash(text.as_bytes());
    let open = text.strip_suffix('}').unwrap_or(text);
    format!("{open},\"crc32\":\"{crc:08x}\"}}\n")
}

pub fn decode(bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut chunks = bytes.split_inclusive(|&byte| byte == b'\n').peekable();
    if let Some(count) =
        chunks.next_if(|first| first.len() == COUNT_BYTES && first.ends_with(b"\n"))
    {
        reading.has_count = true;
        reading.acknowledged = decode_count(count);
        reading.complete_bytes += count.len() as u64;
    }
    for (index, chunk) in chunks.enumerate() {
        let text = chunk.strip_suffix(b"\n").unwrap_or(chunk);
        let is_terminated = text.len() < chunk.len();
        match decode_line(text) {
            Ok(line) => {
                reading.lines.push(line);
                reading.lacks_newline = !is_terminated;
            }
            Err(_) if !is_terminated => {
                reading.torn = Some(String::from_utf8_lossy(chunk).into_owned());
                break;
            }
            Err(reason) => reading.damaged.push(LineDamage {
                line: index as u64 + 1,
                reason,
            }),
        }
        reading.complete_bytes += chunk.len() as u64;
    }
    if !reading.has_count
        && reading
            .lines
            .iter()
            .any(|line| is_header(line) && line.version <= UNCOUNTED)
    {
        // Any line that was begun may have been acknowledged.
        reading.acknowledged = Some(reading.last() + u64::from(reading.torn.is_some()));
    }
    reading
}

fn decode_count(chunk: &[u8]) -> Option<u64> {
    let whole = unseal(chunk.strip_suffix(b"\n")?).ok()?;
    let count: Count = serde_json::from_slice(&whole).ok()?;
    Some(count.acknowledged)
}

fn decode_line(text: &[u8]) -> Result<Line, String> {
    let line: Line = serde_json::from_slice(&unseal(text)?)
        .map_err(|cause| format!("this engine does not understand it: {cause}"))?;
    if line.version > VERSION {
        return Err(format!(
            "it has version {}, this engine knows {VERSION}",
            line.version
        ));
    }
    Ok(line)
}

/// The JSON object of a line with a valid checksum.
fn unseal(text: &[u8]) -> Result<Vec<u8>, String> {
    let mismatch = || "its checksum does not match".to_string();
    let split = text.len().checked_sub(SEAL_BYTES).ok_or_else(mismatch)?;
    let (body, seal) = text.split_at(split);
    let expected = std::str::from_utf8(seal)
        .ok()
        .and_then(|seal| seal.strip_prefix(",\"crc32\":\""))
        .and_then(|text| text.strip_suffix("\"}"))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or_else(mismatch)?;
    let whole = [body, b"}"].concat();
    if crc32fast::hash(&whole) != expected {
        return Err(mismatch());
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_json_that_ends_with_its_checksum() {
        let line = Line {
            version: VERSION,
            experiment: "e".into(),
            line: 2,
            time: "2025-01-01T00:00:00.000Z".into(),
            boot_id: "b".into(),
            record: Record::Restored { of: 1 },
        };
        let text = encode(&line).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        let expected = [
            "version",
            "experiment",
            "line",
            "time",
            "boot_id",
            "record",
            "of",
            "crc32",
        ];
        assert_eq!(keys, expected);
    }

    #[test]
    fn a_count_has_always_the_same_length() {
        for count in [0, 1, 12, 999_999_999] {
            let text = encode_count(count);
            assert_eq!(text.len(), COUNT_BYTES);
            assert_eq!(decode(text.as_bytes()).acknowledged, Some(count));
        }
    }
}
