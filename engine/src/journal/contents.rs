//! The combined content of a journal and its copy, and the damage that neither of them repairs.
//!
//! In: the readings of both files. Out: the usable lines by number, and the unusable ones. Called
//! by `journal::directory`, `journal::file` and `journal::undo`.

use super::line::{Line, LineDamage, Reading, Record, is_header};

const SHOWN_CHARACTERS: usize = 200;

/// The combined content of a journal and its copy.
#[derive(Debug, Default, PartialEq)]
pub struct Contents {
    /// Sorted by number.
    pub lines: Vec<Line>,
    /// The lines that neither file holds: each may have been a change.
    pub damaged: Vec<LineDamage>,
}

impl Contents {
    /// Combines the two files. A line that one file counts and neither file holds is damage. An
    /// incomplete line that neither counts is the normal result of a kill or a power cut.
    pub fn of(journal: Reading, copy: Option<Reading>) -> Contents {
        let copied = copy.as_ref();
        let acknowledged = journal
            .acknowledged
            .max(copied.and_then(|copy| copy.acknowledged));
        let last = journal
            .last()
            .max(copied.map_or(0, Reading::last))
            .max(acknowledged.unwrap_or(0));
        let mut damaged = journal.damaged.clone();
        if let Some(torn) = &journal.torn
            && acknowledged.is_none_or(|acknowledged| acknowledged > journal.last())
        {
            let start: String = torn.chars().take(SHOWN_CHARACTERS).collect();
            damaged.push(LineDamage {
                line: journal.last() + 1,
                reason: format!("it is incomplete: {}", start.escape_debug()),
            });
        }
        let mut lines = journal.lines;
        for line in copy.into_iter().flat_map(|copy| copy.lines) {
            if lines.iter().all(|other| other.line != line.line) {
                lines.push(line);
            }
        }
        lines.sort_by_key(|line| line.line);
        damaged.retain(|damage| lines.iter().all(|line| line.line != damage.line));
        for number in 1..=last {
            let is_known = lines.iter().any(|line| line.line == number);
            if !is_known && damaged.iter().all(|damage| damage.line != number) {
                damaged.push(LineDamage {
                    line: number,
                    reason: "it is missing".into(),
                });
            }
        }
        if !lines.iter().any(is_header) && damaged.iter().all(|damage| damage.line != 1) {
            damaged.push(LineDamage {
                line: 1,
                reason: "the header is missing".into(),
            });
        }
        if acknowledged.is_none() && damaged.is_empty() {
            damaged.push(LineDamage {
                line: last + 1,
                reason: "the number of lines cannot be read, so this one may be missing".into(),
            });
        }
        damaged.sort_by_key(|damage| damage.line);
        Contents { lines, damaged }
    }

    /// Whether its changes were kept on purpose, not left by a crash.
    pub fn is_kept(&self) -> bool {
        self.lines.iter().any(|line| line.record == Record::Kept)
    }

    /// Whether its owner has written the last line: then nothing is left to restore.
    pub fn is_closed(&self) -> bool {
        let last = self.lines.last();
        self.damaged.is_empty() && last.is_some_and(|line| line.record == Record::Closed)
    }

    /// The order among the journals of the directory; 0 where the header is lost.
    pub fn sequence(&self) -> u64 {
        match self.lines.first().map(|line| &line.record) {
            Some(Record::Open { sequence, .. }) => *sequence,
            _ => 0,
        }
    }

    /// The number of the next line.
    pub fn next_line(&self) -> u64 {
        let damaged = self.damaged.iter().map(|damage| damage.line);
        let usable = self.lines.iter().map(|line| line.line);
        usable.chain(damaged).max().unwrap_or(0) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::line::{VERSION, decode, encode, encode_count};
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

    /// A journal of this many lines.
    fn journal(last: u64) -> Vec<u8> {
        [encode_count(last).into_bytes(), lines(last)].concat()
    }

    /// A header, and lines up to the number `last`.
    fn lines(last: u64) -> Vec<u8> {
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

    /// The numbers of the usable lines, and of the damaged ones.
    fn numbers(journal: &[u8], copy: Option<&[u8]>) -> (Vec<u64>, Vec<u64>) {
        let contents = Contents::of(decode(journal), copy.map(decode));
        (
            contents.lines.iter().map(|line| line.line).collect(),
            contents.damaged.iter().map(|damage| damage.line).collect(),
        )
    }

    /// A journal with only its first lines.
    fn cut(last: u64, left: u64) -> Vec<u8> {
        [encode_count(last).into_bytes(), lines(left)].concat()
    }

    #[test]
    fn an_incomplete_last_line_is_damage_where_it_was_acknowledged() {
        let mut torn = journal(3);
        torn.truncate(torn.len() - 5);
        assert_eq!(numbers(&torn, None), (vec![1, 2], vec![3]));
        assert_eq!(numbers(&torn, Some(&journal(2))), (vec![1, 2], vec![3]));
        let acknowledged = journal(4);
        assert_eq!(
            numbers(&torn, Some(&acknowledged)),
            (vec![1, 2, 3, 4], vec![])
        );
        let mut unacknowledged = cut(2, 3);
        unacknowledged.truncate(unacknowledged.len() - 5);
        assert_eq!(numbers(&unacknowledged, None), (vec![1, 2], vec![]));
        assert_eq!(
            decode(&torn).complete_bytes,
            journal(2).len() as u64,
            "a new line begins there"
        );
    }

    #[test]
    fn a_cut_at_the_end_of_a_line_is_damage() {
        assert_eq!(numbers(&cut(3, 1), None), (vec![1], vec![2, 3]));
        assert_eq!(numbers(&cut(3, 2), Some(&cut(3, 1))), (vec![1, 2], vec![3]));
        assert_eq!(
            numbers(&cut(3, 1), Some(&journal(3))),
            (vec![1, 2, 3], vec![])
        );
        assert_eq!(
            numbers(&cut(2, 3), Some(&journal(2))),
            (vec![1, 2, 3], vec![]),
            "a line that was written, and not yet acknowledged, is used"
        );
    }

    #[test]
    fn a_count_that_cannot_be_read_is_damage_unless_the_copy_has_it() {
        let mut bytes = journal(3);
        bytes[18] ^= 1;
        for changed in [bytes, lines(3)] {
            assert_eq!(numbers(&changed, None), (vec![1, 2, 3], vec![4]));
            assert_eq!(
                numbers(&changed, Some(&journal(3))),
                (vec![1, 2, 3], vec![])
            );
        }
    }

    #[test]
    fn a_journal_of_the_first_version_has_no_count() {
        let mut first = line(
            1,
            Record::Open {
                addresses: Vec::new(),
                global: false,
                sequence: 7,
            },
        );
        first.version = 1;
        let mut bytes = encode(&first).unwrap().into_bytes();
        assert_eq!(numbers(&bytes, None), (vec![1], vec![]));
        bytes.extend(b"{\"version\":1");
        assert_eq!(numbers(&bytes, None), (vec![1], vec![2]));
    }

    #[test]
    fn a_bad_line_is_damage_that_the_copy_repairs() {
        let whole = journal(3);
        for index in [60, whole.len() / 2, whole.len() - 40] {
            let mut bytes = whole.clone();
            bytes[index] ^= 1;
            let (usable, damaged) = numbers(&bytes, None);
            assert_eq!((usable.len(), damaged.len()), (2, 1));
            assert_eq!(numbers(&bytes, Some(&whole)), (vec![1, 2, 3], vec![]));
        }
    }

    #[test]
    fn a_journal_without_its_header_is_damaged_whatever_is_left() {
        let without_header = lines(3).split_off(lines(1).len());
        let cases: [&[u8]; 5] = [b"", &[0; 4096], b"\n", b"not a journal\n", &without_header];
        for bytes in cases {
            assert!(numbers(bytes, None).1.contains(&1), "{bytes:?}");
        }
        assert_eq!(numbers(b"", Some(&journal(2))), (vec![1, 2], vec![]));
    }

    #[test]
    fn a_missing_line_is_damage() {
        let (first_end, second_end) = (journal(1).len(), journal(2).len());
        let mut bytes = journal(3);
        bytes.drain(first_end..second_end);
        assert_eq!(numbers(&bytes, None), (vec![1, 3], vec![2]));
    }

    #[test]
    fn a_sound_line_of_a_newer_engine_is_damage_and_not_incomplete() {
        let mut newer = line(1, Record::Closed);
        newer.version = VERSION + 1;
        let text = encode(&newer).unwrap();
        assert_eq!(numbers(text.as_bytes(), None), (vec![], vec![1]));
    }

    proptest! {
        #[test]
        fn any_cut_leaves_the_lines_before_it_and_is_damage_that_the_copy_repairs(cut in 0usize..700, other in 0usize..700) {
            let bytes = journal(3);
            let cut = cut.min(bytes.len() - 2); // a line is complete without its newline too
            let newlines = bytes[..=cut].iter().filter(|&&byte| byte == b'\n').count();
            prop_assert_eq!(decode(&bytes[..cut]).lines.len(), newlines.saturating_sub(1));
            prop_assert!(!numbers(&bytes[..cut], None).1.is_empty());
            let other = other.min(bytes.len() - 2);
            prop_assert!(!numbers(&bytes[..cut], Some(&bytes[..other])).1.is_empty());
            prop_assert_eq!(numbers(&bytes[..cut], Some(&bytes)), (vec![1, 2, 3], vec![]));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let contents = Contents::of(decode(&bytes), Some(decode(&bytes)));
            prop_assert!(!contents.damaged.is_empty());
        }
    }
}
