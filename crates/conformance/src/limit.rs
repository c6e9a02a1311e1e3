//! Owns the sizes above which something counts as large.

/// A payload of more bytes than this belongs behind a ref. Twice the inline limit of the log, so that a payload whose
/// one large member was spilled still passes.
pub(crate) const PAYLOAD: usize = 16 << 10;

/// A string of at least this many bytes must not stand in the stream twice.
pub(crate) const BODY: usize = 4 << 10;

/// Output that one tool call may send in pieces without naming a ref.
pub(crate) const PIECES: u64 = 64 << 10;
