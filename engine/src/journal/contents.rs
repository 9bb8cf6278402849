//! What a journal and its copy say together, and the damage that neither of them repairs.
//!
//! In: the readings of both files. Out: the usable lines by number, and the unusable ones. Called by
//! `journal::directory`, `journal::file` and `journal::undo`.

use super::line::{Damage, Line, Reading, Record, is_header};

const SHOWN_CHARACTERS: usize = 200;

/// What a journal and its copy say together.
#[derive(Debug, Default, PartialEq)]
pub struct Contents {
    /// By their number.
    pub lines: Vec<Line>,
    /// The lines that neither file holds: each may have been a change.
    pub damaged: Vec<Damage>,
}

impl Contents {
    /// Puts the two files together. In the boot `boot_id` an incomplete last line is damage, unless the
    /// copy shows that it was never acknowledged; a power cut leaves such a line of an earlier boot.
    pub fn of(journal: Reading, copy: Option<Reading>, boot_id: &str) -> Contents {
        let last = journal
            .last()
            .max(copy.as_ref().map_or(0, |copy| copy.last()));
        let mut damaged = journal.damaged.clone();
        if let Some(torn) = &journal.torn {
            let same_boot = journal
                .lines
                .last()
                .is_none_or(|line| line.boot_id == boot_id);
            let unacknowledged = copy
                .as_ref()
                .is_some_and(|copy| copy.torn.is_none() && copy.last() == journal.last());
            if same_boot && !unacknowledged {
                let start: String = torn.chars().take(SHOWN_CHARACTERS).collect();
                damaged.push(Damage {
                    line: journal.last() + 1,
                    reason: format!("it is incomplete: {}", start.escape_debug()),
                });
            }
        }
        let mut lines = journal.lines;
        for line in copy.into_iter().flat_map(|copy| copy.lines) {
            if lines.iter().all(|known| known.line != line.line) {
                lines.push(line);
            }
        }
        lines.sort_by_key(|line| line.line);
        damaged.retain(|damage| lines.iter().all(|line| line.line != damage.line));
        for number in 1..=last {
            let known = lines.iter().any(|line| line.line == number);
            if !known && damaged.iter().all(|damage| damage.line != number) {
                damaged.push(Damage {
                    line: number,
                    reason: "it is missing".into(),
                });
            }
        }
        if !lines.iter().any(is_header) && damaged.iter().all(|damage| damage.line != 1) {
            damaged.push(Damage {
                line: 1,
                reason: "the header is missing".into(),
            });
        }
        damaged.sort_by_key(|damage| damage.line);
        Contents { lines, damaged }
    }

    /// Whether its changes are meant to stay: no crash has left them.
    pub fn is_kept(&self) -> bool {
        self.lines.iter().any(|line| line.record == Record::Kept)
    }

    /// Whether its owner has written the last line: then nothing is left to restore.
    pub fn is_closed(&self) -> bool {
        let last = self.lines.last();
        self.damaged.is_empty() && last.is_some_and(|line| line.record == Record::Closed)
    }

    /// The place among the journals of the directory; 0 where the header is lost.
    pub fn sequence(&self) -> u64 {
        match self.lines.first().map(|line| &line.record) {
            Some(Record::Open { sequence, .. }) => *sequence,
            _ => 0,
        }
    }

    /// The number that the next line gets.
    pub fn next_line(&self) -> u64 {
        let damaged = self.damaged.iter().map(|damage| damage.line);
        let usable = self.lines.iter().map(|line| line.line);
        usable.chain(damaged).max().unwrap_or(0) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::line::{VERSION, decode, encode};
    use proptest::prelude::*;

    fn line(number: u64, record: Record) -> Line {
        Line {
            version: VERSION,
            experiment: "e".into(),
            line: number,
            time: "2025-01-01T00:00:00.000Z".into(),
            boot_id: "b".into(),
            record,
        }
    }

    /// A header, and lines up to the number `last`.
    fn journal(last: u64) -> Vec<u8> {
        let record = |number| match number {
            1 => Record::Open {
                addresses: Vec::new(),
                global: false,
                sequence: 7,
            },
            _ => Record::Restored { of: number },
        };
        (1..=last)
            .flat_map(|number| encode(&line(number, record(number))).unwrap().into_bytes())
            .collect()
    }

    /// The numbers of the usable lines, and of those that are damaged.
    fn numbers(journal: &[u8], copy: Option<&[u8]>, boot_id: &str) -> (Vec<u64>, Vec<u64>) {
        let contents = Contents::of(decode(journal), copy.map(decode), boot_id);
        (
            contents.lines.iter().map(|line| line.line).collect(),
            contents.damaged.iter().map(|damage| damage.line).collect(),
        )
    }

    #[test]
    fn an_incomplete_last_line_is_damage_unless_power_or_a_copy_explains_it() {
        let mut torn = journal(3);
        torn.truncate(torn.len() - 5);
        assert_eq!(numbers(&torn, None, "b"), (vec![1, 2], vec![3]));
        assert_eq!(numbers(&torn, None, "later"), (vec![1, 2], vec![]));
        let unacknowledged = journal(2);
        assert_eq!(
            numbers(&torn, Some(&unacknowledged), "b"),
            (vec![1, 2], vec![])
        );
        let acknowledged = journal(4);
        assert_eq!(
            numbers(&torn, Some(&acknowledged), "b"),
            (vec![1, 2, 3, 4], vec![])
        );
        assert_eq!(
            decode(&torn).complete_bytes,
            journal(2).len() as u64,
            "a new line begins there"
        );
    }

    #[test]
    fn a_bad_line_is_damage_that_the_copy_repairs() {
        let whole = journal(3);
        for place in [10, whole.len() / 2, whole.len() - 40] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            let (usable, damaged) = numbers(&bytes, None, "b");
            assert_eq!((usable.len(), damaged.len()), (2, 1));
            assert_eq!(numbers(&bytes, Some(&whole), "b"), (vec![1, 2, 3], vec![]));
        }
    }

    #[test]
    fn a_journal_without_its_header_is_damaged_whatever_is_left() {
        let header_bytes = journal(1).len();
        let without_header = journal(3).split_off(header_bytes);
        let cases: [(&[u8], &str); 5] = [
            (b"", "b"),
            (&[0; 4096], "later"),
            (b"\n", "later"),
            (b"not a journal\n", "later"),
            (&without_header, "later"),
        ];
        for (bytes, boot_id) in cases {
            assert!(numbers(bytes, None, boot_id).1.contains(&1), "{bytes:?}");
        }
        assert_eq!(numbers(b"", Some(&journal(2)), "b"), (vec![1, 2], vec![]));
    }

    #[test]
    fn a_missing_line_is_damage() {
        let (one, two) = (journal(1).len(), journal(2).len());
        let mut bytes = journal(3);
        bytes.drain(one..two);
        assert_eq!(numbers(&bytes, None, "b"), (vec![1, 3], vec![2]));
    }

    #[test]
    fn a_sound_line_of_a_newer_engine_is_damage_and_not_incomplete() {
        let mut newer = line(1, Record::Closed);
        newer.version = VERSION + 1;
        let text = encode(&newer).unwrap();
        assert_eq!(numbers(text.as_bytes(), None, "b"), (vec![], vec![1]));
    }

    proptest! {
        #[test]
        fn any_cut_leaves_the_lines_before_it_and_the_copy_repairs_it(cut in 0usize..700) {
            let bytes = journal(3);
            let cut = cut.min(bytes.len());
            // A line is complete without its newline too.
            let complete = bytes[..=cut.min(bytes.len() - 1)].iter().filter(|&&byte| byte == b'\n').count();
            prop_assert_eq!(decode(&bytes[..cut]).lines.len(), complete);
            prop_assert_eq!(numbers(&bytes[..cut], Some(&bytes), "b"), (vec![1, 2, 3], vec![]));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let contents = Contents::of(decode(&bytes), Some(decode(&bytes)), "b");
            prop_assert!(!contents.damaged.is_empty());
        }
    }
}
