//! Lines: the format of a journal, and what a damaged file still says.
//!
//! In: records, or the bytes of a file. Out: lines with a checksum, or the records with the places
//! that cannot be trusted. Called by `journal::file` and `journal::directory`.
//!
//! A line is a JSON object that a person can read and that needs no other line to be undone. Its
//! last key is the CRC-32 of the object without that key.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::Action;

pub const VERSION: u32 = 1;

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
    },
    Change(Change),
    /// The change in line `of` was taken back.
    Restored {
        of: u64,
    },
    /// All changes so far are meant to stay until somebody asks for them to be undone.
    Kept,
    Closed,
}

/// A change that is about to be made, with all that is needed to take it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub knob: String,
    pub address: String,
    pub before: Value,
    pub wanted: Value,
    pub undo: Vec<Action>,
    /// Whether it outlives the boot.
    pub persistent: bool,
}

/// What the bytes of a journal say.
#[derive(Debug, Default, PartialEq)]
pub struct Contents {
    pub lines: Vec<Line>,
    /// Lines that cannot be used, with the number in the file and why.
    pub damaged: Vec<(usize, String)>,
    /// Up to here the file is whole; after it comes a line that was never finished.
    pub whole_bytes: u64,
}

impl Contents {
    /// Whether its changes are meant to stay: no crash has left them.
    pub fn is_kept(&self) -> bool {
        self.lines.iter().any(|line| line.record == Record::Kept)
    }
}

/// `,"crc32":"0123abcd"}`
const SEAL_BYTES: usize = 20;

pub fn encode(line: &Line) -> serde_json::Result<String> {
    let text = serde_json::to_string(line)?;
    let crc = crc32fast::hash(text.as_bytes());
    let open = text.strip_suffix('}').unwrap_or(&text);
    Ok(format!("{open},\"crc32\":\"{crc:08x}\"}}\n"))
}

/// Why a line cannot be used.
#[derive(Debug, PartialEq)]
enum Damage {
    /// It is not what was written.
    Checksum,
    /// It is what was written, but by a newer engine.
    Unknown(String),
}

pub fn decode(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut offset = 0;
    let chunks: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    for (index, chunk) in chunks.iter().enumerate() {
        let Some(text) = chunk.strip_suffix(b"\n") else {
            // Never finished, so never acknowledged, so never acted upon.
            break;
        };
        match decode_line(text) {
            Ok(line) => contents.lines.push(line),
            Err(Damage::Checksum) => {
                let why = "its checksum does not fit".to_string();
                contents.damaged.push((index + 1, why));
            }
            Err(Damage::Unknown(why)) => contents.damaged.push((index + 1, why)),
        }
        offset += chunk.len() as u64;
        contents.whole_bytes = offset;
    }
    contents
}

fn decode_line(text: &[u8]) -> Result<Line, Damage> {
    let split = text.len().checked_sub(SEAL_BYTES).ok_or(Damage::Checksum)?;
    let (body, seal) = text.split_at(split);
    let seal = std::str::from_utf8(seal).map_err(|_| Damage::Checksum)?;
    let wanted = seal
        .strip_prefix(",\"crc32\":\"")
        .and_then(|rest| rest.strip_suffix("\"}"))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or(Damage::Checksum)?;
    let whole = [body, b"}"].concat();
    if crc32fast::hash(&whole) != wanted {
        return Err(Damage::Checksum);
    }
    let line: Line = serde_json::from_slice(&whole)
        .map_err(|cause| Damage::Unknown(format!("this engine does not understand it: {cause}")))?;
    if line.version > VERSION {
        return Err(Damage::Unknown(format!(
            "it has version {}, this engine knows {VERSION}",
            line.version
        )));
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(number: u64) -> Line {
        Line {
            version: VERSION,
            experiment: "e".into(),
            line: number,
            time: "2025-01-01T00:00:00.000Z".into(),
            boot_id: "b".into(),
            record: Record::Restored { of: number },
        }
    }

    fn journal(lines: u64) -> Vec<u8> {
        (1..=lines)
            .flat_map(|number| encode(&line(number)).unwrap().into_bytes())
            .collect()
    }

    fn numbers(contents: &Contents) -> Vec<u64> {
        contents.lines.iter().map(|line| line.line).collect()
    }

    #[test]
    fn a_line_is_json_that_ends_with_its_checksum() {
        let text = encode(&line(1)).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        let wanted = [
            "version",
            "experiment",
            "line",
            "time",
            "boot_id",
            "record",
            "of",
            "crc32",
        ];
        assert_eq!(keys, wanted);
    }

    #[test]
    fn a_torn_last_line_is_as_if_it_had_never_been_begun() {
        let whole = journal(2);
        let mut torn = journal(3);
        torn.truncate(torn.len() - 5);
        let contents = decode(&torn);
        assert_eq!(numbers(&contents), [1, 2]);
        assert_eq!(contents.whole_bytes, whole.len() as u64);
        assert!(contents.damaged.is_empty());
    }

    #[test]
    fn a_whole_last_line_with_a_bad_checksum_is_damaged_and_kept() {
        let mut bytes = journal(2);
        let place = bytes.len() - 40;
        bytes[place] ^= 1;
        let contents = decode(&bytes);
        assert_eq!(numbers(&contents), [1]);
        assert_eq!(contents.damaged[0].0, 2);
        assert_eq!(contents.whole_bytes, bytes.len() as u64);
    }

    #[test]
    fn a_bad_line_in_the_middle_is_told_and_the_rest_is_used() {
        let mut bytes = journal(3);
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        let contents = decode(&bytes);
        assert_eq!(numbers(&contents), [1, 3]);
        assert_eq!(contents.damaged[0].0, 2);
    }

    #[test]
    fn a_sound_line_of_a_newer_engine_is_not_taken_for_torn() {
        let mut newer = line(1);
        newer.version = VERSION + 1;
        let contents = decode(encode(&newer).unwrap().as_bytes());
        assert_eq!((contents.lines.len(), contents.damaged.len()), (0, 1));
    }

    proptest! {
        #[test]
        fn any_cut_leaves_the_lines_before_it(cut in 0usize..600) {
            let bytes = journal(3);
            let cut = cut.min(bytes.len());
            let whole_lines = bytes[..cut].iter().filter(|&&byte| byte == b'\n').count();
            prop_assert_eq!(decode(&bytes[..cut]).lines.len(), whole_lines);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            decode(&bytes);
        }
    }
}
