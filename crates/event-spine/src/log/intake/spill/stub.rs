//! Owns what stays in the place of a body: its head, a line that names size and blob, its tail.

use crate::blob::BlobId;

/// How much of a body stays: bytes of head and of tail, before the cut moves to the border of a character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    head: usize,
    tail: usize,
}

impl Keep {
    /// For a text that is over the limit by itself.
    pub(super) fn of_text(limit: usize) -> Self {
        Self { head: limit / 4, tail: limit / 8 }
    }

    /// For a member that goes because the members together are too large.
    pub(super) fn of_member(limit: usize) -> Self {
        Self { head: limit / 32, tail: limit / 64 }
    }
}

/// What stays of `body`: cut between characters, below the limit that `keep` was made for.
pub(super) fn stub(body: &str, id: &BlobId, keep: Keep) -> String {
    let head_end = body.floor_char_boundary(keep.head);
    let tail_start = body.ceil_char_boundary(body.len().saturating_sub(keep.tail)).max(head_end);
    let head = body.get(..head_end).unwrap_or_default();
    let tail = body.get(tail_start..).unwrap_or_default();
    format!("{head}\n…[{} bytes in {id}]…\n{tail}", body.len())
}

/// The media type that a `data:` URL names for itself.
pub(super) fn data_url_type(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("data:")?;
    let head = rest.get(..rest.floor_char_boundary(256))?;
    let named = head.split([',', ';']).next()?;
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    let (kind, sub) = named.split_once('/')?;
    (named.len() < head.len() && token(kind) && token(sub)).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_name_their_type() {
        let check = |text: &str, expected| assert_eq!(data_url_type(text), expected, "{text}");
        check("data:image/png;base64,iVBOR", Some("image/png"));
        check("data:image/svg+xml,%3Csvg", Some("image/svg+xml"));
        check("data:,hello", None);
        check("data:text", None);
        check("data:no type/x y,z", None);
        check("database/png,", None);
        check("data: für/ü,", None);
    }

    #[test]
    fn heads_and_tails_never_overlap_and_cut_between_characters() {
        let body = "🦀".repeat(10_000);
        for limit in [512, 513, 514, 515, 1001, 8191] {
            let stub = stub(&body, &BlobId::of(body.as_bytes()), Keep::of_text(limit));
            assert!(stub.len() < limit, "{limit}: {}", stub.len());
            assert!(stub.starts_with('🦀') && stub.ends_with('🦀') && !stub.contains('\u{fffd}'));
            assert!(stub.contains("[40000 bytes in blake3:"));
        }
        let short = stub("ab", &BlobId::of(b"ab"), Keep { head: 9, tail: 9 });
        assert!(short.starts_with("ab\n…") && short.ends_with("…\n"));
    }
}
