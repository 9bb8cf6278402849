//! Counts in the buckets of an HDR histogram with three significant digits.
//!
//! In: values. Out: counts per bucket. Called by `record::histogram`.
//!
//! The buckets are those of the `hdrhistogram` crate, which computes percentiles and encodes. This
//! module is only the part that hundreds of workers fill and one conductor merges, under little CPU
//! time left by the workers. Merging is a plain sum of arrays. Only pages of buckets that were used
//! take memory: half a KiB each, some dozens of pages for most workers.

/// Buckets in one octave: twice the resolution that three digits need at its upper end.
const OCTAVE: usize = 1024;
const OCTAVE_BITS: u32 = OCTAVE.trailing_zeros();
/// Enough for a day in nanoseconds.
const OCTAVES: usize = 38;
/// Buckets that are allocated together.
const PAGE: usize = 64;
const PAGES: usize = OCTAVES * OCTAVE / PAGE;

/// The largest value with a bucket.
pub const LARGEST: u64 = (1 << (OCTAVE_BITS + OCTAVES as u32 - 1)) - 1;

#[derive(Debug, Clone)]
pub struct Counts {
    pages: [Option<Box<[u64; PAGE]>>; PAGES],
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            pages: [const { None }; PAGES],
        }
    }
}

impl Counts {
    /// Counts `value`, which must not be above `LARGEST`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let bucket = bucket_of(value);
        self.pages[bucket / PAGE].get_or_insert_with(empty)[bucket % PAGE] += 1;
    }

    pub fn merge(&mut self, other: &Counts) {
        for (counts, other_counts) in self.pages.iter_mut().zip(&other.pages) {
            let Some(other_counts) = other_counts else {
                continue;
            };
            let counts = counts.get_or_insert_with(empty);
            for (counts, other_counts) in counts.iter_mut().zip(other_counts.iter()) {
                *counts += other_counts;
            }
        }
    }

    /// Resets the counts; `few` states that there were few of them. Many counts keep their memory
    /// for the next interval. Few counts free it, so that a thousand slow workers do not each keep
    /// all pages.
    pub fn clear(&mut self, few: bool) {
        if few {
            self.pages.iter_mut().for_each(|page| *page = None);
        } else {
            self.pages
                .iter_mut()
                .flatten()
                .for_each(|page| page.fill(0));
        }
    }

    /// The non-empty buckets in order: the largest value of the bucket and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let used = self.pages.iter().enumerate();
        let all = used.filter_map(|(page, counts)| Some((page, counts.as_ref()?)));
        all.flat_map(|(page, counts)| {
            let buckets = counts.iter().enumerate();
            buckets.map(move |(index, &count)| (largest_of(page * PAGE + index), count))
        })
        .filter(|&(_, count)| count > 0)
    }
}

#[cold]
fn empty() -> Box<[u64; PAGE]> {
    Box::new([0; PAGE])
}

/// The bucket of a value. The first two octaves have buckets of width one, each further octave of
/// twice the width.
#[inline]
fn bucket_of(value: u64) -> usize {
    let bits = u64::BITS - (value | (OCTAVE as u64 - 1)).leading_zeros();
    let octave = bits - OCTAVE_BITS;
    let width_bits = octave.saturating_sub(1);
    octave as usize * OCTAVE + ((value >> width_bits) as usize & (OCTAVE - 1))
}

fn largest_of(bucket: usize) -> u64 {
    let (octave, index) = (bucket / OCTAVE, bucket % OCTAVE);
    if octave == 0 {
        return index as u64;
    }
    (((OCTAVE + index + 1) as u64) << (octave - 1)) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    #[test]
    fn a_day_in_nanoseconds_has_a_bucket() {
        let mut counts = Counts::default();
        let values = [
            0,
            1,
            1023,
            1024,
            2047,
            2048,
            86_400 * crate::clock::SECOND,
            LARGEST,
        ];
        values.into_iter().for_each(|value| counts.add(value));
        assert_eq!(counts.buckets().map(|(_, count)| count).sum::<u64>(), 8);
    }

    proptest! {
        #[test]
        fn the_buckets_are_those_of_the_hdrhistogram_crate(bits in 0u32..47, low in any::<u64>()) {
            let value = (low >> (63 - bits)).min(LARGEST);
            let mut counts = Counts::default();
            counts.add(value);
            let mut oracle = Histogram::<u64>::new(3).unwrap();
            oracle.record(value).unwrap();
            let highest = oracle.highest_equivalent(value);
            prop_assert_eq!(counts.buckets().collect::<Vec<_>>(), vec![(highest, 1)]);
        }
    }
}
