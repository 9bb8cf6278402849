//! Packets: three bytes of length, a sequence number, at most 16 MiB; longer payloads are split.
//!
//! In: payloads. Out: bytes to write. Used by all packet writers; readers use `head`.

/// A packet of this length is continued by the next one.
pub const LONGEST: usize = 0xff_ffff;

/// The bytes of the header before each payload.
pub const HEAD: usize = 4;

/// Length and number of the packet at the beginning of these bytes.
#[inline]
pub fn head(bytes: &[u8]) -> Option<(usize, u8)> {
    let [low, middle, high, sequence] = *bytes.first_chunk::<HEAD>()?;
    let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
    Some((length, sequence))
}

/// Empties the buffer and reserves the space of the header.
#[inline]
pub fn begin(out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; HEAD]);
}

/// Writes the header before the payload that was appended since `begin`.
#[inline]
pub fn finish(out: &mut Vec<u8>, sequence: u8) {
    let length = out.len() - HEAD;
    if length >= LONGEST {
        return split(out, sequence);
    }
    out[..HEAD].copy_from_slice(&head_of(length, sequence));
}

fn head_of(length: usize, sequence: u8) -> [u8; HEAD] {
    let [low, middle, high, ..] = length.to_le_bytes();
    [low, middle, high, sequence]
}

#[cold]
fn split(out: &mut Vec<u8>, mut sequence: u8) {
    let whole = std::mem::take(out);
    let mut payload = &whole[HEAD..];
    loop {
        let (part, after) = payload.split_at(payload.len().min(LONGEST));
        out.extend_from_slice(&head_of(part.len(), sequence));
        out.extend_from_slice(part);
        if part.len() < LONGEST {
            return;
        }
        (payload, sequence) = (after, sequence.wrapping_add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(length: usize) -> Vec<(usize, u8)> {
        let mut out = Vec::new();
        begin(&mut out);
        out.resize(HEAD + length, 7);
        finish(&mut out, 255);
        let mut heads = Vec::new();
        let mut unread = &out[..];
        while let Some((length, sequence)) = head(unread) {
            heads.push((length, sequence));
            unread = &unread[HEAD + length..];
        }
        assert!(unread.is_empty());
        heads
    }

    #[test]
    fn what_is_too_long_for_one_packet_is_split() {
        assert_eq!(framed(3), [(3, 255)]);
        assert_eq!(framed(LONGEST - 1), [(LONGEST - 1, 255)]);
        assert_eq!(framed(LONGEST), [(LONGEST, 255), (0, 0)]);
        assert_eq!(framed(LONGEST + 2), [(LONGEST, 255), (2, 0)]);
    }
}
