//! Owns how much a view keeps.

use serde::{Deserialize, Serialize};

/// How much a view keeps. Totals stay exact whatever is dropped; older pages are folded again from the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Newest settled items of a list.
    pub items: usize,
    /// Open items of a list. They are always kept, up to this many: a source that opens without ever closing must
    /// not fill the memory.
    pub open_items: usize,
    /// Text of the items of one list together, in bytes. The newest item stays, however large.
    pub list_bytes: usize,
    /// Text of one message part, in bytes.
    pub text_bytes: usize,
    /// Text of one preview (tool arguments, tool output, artifact head), in bytes.
    pub preview_bytes: usize,
    /// A state document that the source keeps with snapshots and patches, in bytes.
    pub document_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            items: 200,
            open_items: 1_000,
            list_bytes: 256 * 1024,
            text_bytes: 64 * 1024,
            preview_bytes: 4 * 1024,
            document_bytes: 128 * 1024,
        }
    }
}
