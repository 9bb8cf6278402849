//! A verified block: content with a label of the block and the write, and a checksum over all
//! bytes.
//!
//! In: a block's bytes and its label, or bytes that were read. Out: sealed bytes; or the label
//! read, or the damage found. Called by `verified`, `verify` and `fill`.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | `paribus` and the version of this layout |
//! | 8..12 | CRC-32 of all bytes after it |
//! | 12..16 | the block's length |
//! | 16..20 | the lane that wrote it |
//! | 20..24 | the file's number |
//! | 24..32 | the offset |
//! | 32..40 | the sequence |
//!
//! All numbers are little-endian. Each further sector begins with eight bytes unique to its write.
//! So a block of which only some sectors were written cannot have a right checksum.

use std::fmt;

const MAGIC: [u8; 8] = *b"paribus\x01";
/// The size that a disk writes as a whole.
const SECTOR: usize = 512;

/// The bits of a sequence that count writes; the bits above them name the run.
const COUNT_BITS: u32 = 40;
const RUN_BITS: u32 = 23;

/// The number of a lane's write: the run's number, drawn at its start, and the count of the lane's
/// writes. 0 marks a block written by the prepare phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sequence(pub u64);

impl Sequence {
    pub const PREPARED: Sequence = Sequence(0);

    /// The sequence before the first write of a run; `drawn` distinguishes runs.
    pub fn first_of_run(drawn: u64) -> Sequence {
        Sequence((drawn >> (u64::BITS - RUN_BITS)).max(1) << COUNT_BITS)
    }

    /// The sequence before the first write of the run of `sequence`.
    pub fn before_first(sequence: u64) -> Sequence {
        Sequence(sequence >> COUNT_BITS << COUNT_BITS)
    }

    pub fn next(self) -> Sequence {
        Sequence(self.0 + 1)
    }

    pub fn run(self) -> u64 {
        self.0 >> COUNT_BITS
    }

    pub fn count(self) -> u64 {
        self.0 & ((1 << COUNT_BITS) - 1)
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Sequence::PREPARED => write!(formatter, "the prepared block"),
            _ => write!(
                formatter,
                "write {} of run {:06x}",
                self.count(),
                self.run()
            ),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    pub file: u32,
    pub offset: u64,
    pub lane: u32,
    pub sequence: Sequence,
}

/// The damage of a block that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockDamage {
    /// The block has no label.
    NoLabel,
    /// The checksum does not match the bytes.
    Torn,
    /// A whole block of another offset or file.
    Misplaced(Label),
    /// A whole block of this place, but of another write than expected.
    Stale(Sequence),
}

/// Writes the label and the checksum into a block; `bytes` must have room for a label.
pub fn seal(bytes: &mut [u8], label: Label) {
    // Odd factors make different writes differ, even where all else is equal.
    let stamp = label.sequence.0.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (label.offset ^ u64::from(label.file) << 48).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    for sector in bytes.chunks_exact_mut(SECTOR) {
        sector[..8].copy_from_slice(&stamp.to_le_bytes());
    }
    let length = bytes.len() as u32;
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[12..16].copy_from_slice(&length.to_le_bytes());
    bytes[16..20].copy_from_slice(&label.lane.to_le_bytes());
    bytes[20..24].copy_from_slice(&label.file.to_le_bytes());
    bytes[24..32].copy_from_slice(&label.offset.to_le_bytes());
    bytes[32..40].copy_from_slice(&label.sequence.0.to_le_bytes());
    let checksum = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
}

/// The label of a whole block that belongs to this place.
pub fn check(bytes: &[u8], file: u32, offset: u64) -> Result<Label, BlockDamage> {
    if bytes[..8] != MAGIC {
        return Err(BlockDamage::NoLabel);
    }
    if number(bytes, 8, 4) != u64::from(crc32fast::hash(&bytes[12..])) {
        return Err(BlockDamage::Torn);
    }
    let label = Label {
        file: number(bytes, 20, 4) as u32,
        offset: number(bytes, 24, 8),
        lane: number(bytes, 16, 4) as u32,
        sequence: Sequence(number(bytes, 32, 8)),
    };
    let here = label.file == file && label.offset == offset;
    if here && number(bytes, 12, 4) == bytes.len() as u64 {
        Ok(label)
    } else {
        Err(BlockDamage::Misplaced(label))
    }
}

fn number(bytes: &[u8], from: usize, length: usize) -> u64 {
    let mut little_endian = [0; 8];
    little_endian[..length].copy_from_slice(&bytes[from..from + length]);
    u64::from_le_bytes(little_endian)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn label(sequence: u64) -> Label {
        Label {
            file: 3,
            offset: 65_536,
            lane: 5,
            sequence: Sequence(sequence),
        }
    }

    fn sealed(length: usize, label: Label) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..length).map(|index| (index * 7) as u8).collect();
        seal(&mut bytes, label);
        bytes
    }

    #[test]
    fn a_sequence_knows_its_run_and_its_place_in_it() {
        let first = Sequence::first_of_run(u64::MAX);
        assert_eq!((first.count(), first.next().count()), (0, 1));
        assert_eq!(first.run(), first.next().run());
        assert_eq!(
            Sequence::first_of_run(0).run(),
            1,
            "0 is for the prepared block"
        );
        assert!(
            i64::try_from(first.0).is_ok(),
            "others read it as a signed number"
        );
        assert_eq!(Sequence::PREPARED.to_string(), "the prepared block");
    }

    proptest! {
        #[test]
        fn a_sealed_block_is_whole_where_it_belongs_and_only_there(
            length in 512usize..5000, sequence in any::<u64>(), offset in any::<u64>(), file in any::<u32>(),
        ) {
            let bytes = sealed(length, label(sequence));
            prop_assert_eq!(check(&bytes, 3, 65_536), Ok(label(sequence)));
            let elsewhere = if (file, offset) == (3, 65_536) { Ok(label(sequence)) } else {
                Err(BlockDamage::Misplaced(label(sequence)))
            };
            prop_assert_eq!(check(&bytes, file, offset), elsewhere);
        }

        #[test]
        fn any_changed_byte_is_noticed(
            length in 512usize..5000, at in any::<prop::sample::Index>(), change in 1u8..,
        ) {
            let mut bytes = sealed(length, label(7));
            bytes[at.index(length)] ^= change;
            prop_assert!(matches!(check(&bytes, 3, 65_536), Err(BlockDamage::Torn | BlockDamage::NoLabel)));
        }

        #[test]
        fn sectors_of_two_writes_never_make_a_whole_block(
            sectors in 2usize..16, split in any::<prop::sample::Index>(), older in 0u64..1000, newer in 1000u64..2000,
        ) {
            let (old, new) = (sealed(sectors * 512, label(older)), sealed(sectors * 512, label(newer)));
            let split = (1 + split.index(sectors - 1)) * 512;
            for (front, back) in [(&old, &new), (&new, &old)] {
                let torn = [&front[..split], &back[split..]].concat();
                prop_assert_eq!(check(&torn, 3, 65_536), Err(BlockDamage::Torn));
            }
        }
    }

    #[test]
    fn zeroes_have_no_label() {
        assert_eq!(check(&[0; 4096], 0, 0), Err(BlockDamage::NoLabel));
    }
}
