//! Owns the frame: what stands around a batch on disk, and telling whole frames from damage.
//!
//! ```text
//! segment   = header(32) frame* zeros*
//! header    = "SPINEJNL" version:u32 number:u64 zeros(8) crc32c:u32
//! frame     = "SPNF" length:u32 crc32c:u32 synced:u32 version:u8 body      crc over synced, version, body
//! ```
//!
//! `synced` is the offset up to which this segment was known to be on disk when the frame was written. Damage below the
//! highest such offset is damage: it costs its frame and no more. Damage above it is what a crash leaves of writes that
//! were never acknowledged: recovery cuts there.
//!
//! Next: [`scan`](super::scan), which walks a segment.

/// Bytes before the body of a frame.
pub(super) const FRAME_HEADER: usize = 17;
/// Bytes of a segment's own header.
pub(super) const SEGMENT_HEADER: usize = 32;
/// Version of the journal's format.
pub(super) const JOURNAL_VERSION: u32 = 1;
/// Longest body of a frame.
pub(super) const MAX_BODY: usize = 256 * 1024 * 1024;

const SEGMENT_MAGIC: &[u8; 8] = b"SPINEJNL";
pub(super) const FRAME_MAGIC: &[u8; 4] = b"SPNF";

/// Appends a frame around a body.
pub(super) fn write_frame(body: &[u8], synced: u32, version: u8, out: &mut Vec<u8>) {
    let mut crc = crc32c::crc32c(&synced.to_le_bytes());
    crc = crc32c::crc32c_append(crc, &[version]);
    crc = crc32c::crc32c_append(crc, body);
    out.extend_from_slice(FRAME_MAGIC);
    out.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&synced.to_le_bytes());
    out.push(version);
    out.extend_from_slice(body);
}

/// A whole frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) synced: u32,
    pub(super) version: u8,
    pub(super) body: &'a [u8],
}

impl Frame<'_> {
    /// Bytes of the frame on disk.
    pub(super) fn size(&self) -> usize {
        FRAME_HEADER + self.body.len()
    }
}

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parsed<'a> {
    /// A whole frame.
    Frame(Frame<'a>),
    /// The beginning of a frame that may be whole when this many bytes are there.
    Short(usize),
    /// No frame: the bytes are zero, or damaged.
    Broken,
}

/// Looks for a frame at the beginning of `bytes`.
pub(super) fn parse_frame(bytes: &[u8]) -> Parsed<'_> {
    let Some((head, rest)) = bytes.split_at_checked(FRAME_HEADER) else {
        return Parsed::Short(FRAME_HEADER);
    };
    let word = |at: usize| {
        head.get(at..at + 4).and_then(|w| w.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    let length = word(4) as usize;
    if !head.starts_with(FRAME_MAGIC) || length > MAX_BODY {
        return Parsed::Broken;
    }
    let Some(body) = rest.get(..length) else {
        return Parsed::Short(FRAME_HEADER + length);
    };
    let crc = crc32c::crc32c_append(crc32c::crc32c(head.get(12..).unwrap_or_default()), body);
    if crc != word(8) {
        return Parsed::Broken;
    }
    Parsed::Frame(Frame { synced: word(12), version: head.last().copied().unwrap_or(0), body })
}

/// The header of a segment.
pub(super) fn segment_header(number: u64) -> [u8; SEGMENT_HEADER] {
    let mut header = [0_u8; SEGMENT_HEADER];
    let parts = SEGMENT_MAGIC
        .iter()
        .copied()
        .chain(JOURNAL_VERSION.to_le_bytes())
        .chain(number.to_le_bytes())
        .chain([0; 8]);
    for (to, from) in header.iter_mut().zip(parts) {
        *to = from;
    }
    let crc = crc32c::crc32c(header.get(..28).unwrap_or_default());
    for (to, from) in header.iter_mut().skip(28).zip(crc.to_le_bytes()) {
        *to = from;
    }
    header
}

/// What the first bytes of a segment say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// The header of this segment.
    Of(u64),
    /// A header that holds, of a newer version.
    Newer { found: u32, supported: u32 },
    /// No header, or a damaged one.
    Broken,
}

/// Reads the header of a segment.
pub(super) fn read_header(bytes: &[u8; SEGMENT_HEADER]) -> Header {
    let word = |at: usize| {
        bytes.get(at..at + 4).and_then(|w| w.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    let crc = crc32c::crc32c(bytes.get(..28).unwrap_or_default());
    if !bytes.starts_with(SEGMENT_MAGIC) || crc != word(28) {
        return Header::Broken;
    }
    let (found, supported) = (word(8), JOURNAL_VERSION);
    if found > supported {
        return Header::Newer { found, supported };
    }
    let number = u64::from(word(12)) | (u64::from(word(16)) << 32);
    if *bytes == segment_header(number) { Header::Of(number) } else { Header::Broken }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_frame_is_noticed() {
        let mut bytes = Vec::new();
        write_frame(b"a body", 99, 1, &mut bytes);
        let whole = Parsed::Frame(Frame { synced: 99, version: 1, body: b"a body" });
        assert_eq!(parse_frame(&bytes), whole);
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(parse_frame(&damaged), Parsed::Frame(_)), "bit {bit}");
        }
        for cut in 0..bytes.len() {
            assert!(matches!(parse_frame(&bytes[..cut]), Parsed::Short(_)), "cut {cut}");
        }
        assert_eq!(parse_frame(&[0; 64]), Parsed::Broken);
    }
}
