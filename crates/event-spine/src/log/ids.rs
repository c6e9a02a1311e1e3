//! Owns the answer to «is this event id there already?», for one session, in twelve bytes an event.
//!
//! Hashes are uniform, so a sorted list is searched by interpolation; new ones wait in a small map until they are merged.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::error::ReadError;
use crate::id::SessionId;
use crate::log::read::LogReader;

/// New hashes wait in a map of at most this many, or an eighth of the sorted ones.
const MERGE_AT: usize = 8 * 1024;

/// Event-id hashes of a session with their sequences.
#[derive(Debug, Default)]
pub(crate) struct IdIndex {
    hashes: Vec<u64>,
    /// Sequences, beside the hashes. A session has fewer than 2^32 events that are indexed here; later ones stay in the map.
    sequences: Vec<u32>,
    recent: HashMap<u64, u64, BuildHasherDefault<Hashed>>,
    /// Events whose hash is that of another one in `recent`, and those that are too far for `sequences`.
    others: Vec<(u64, u64)>,
}

/// Takes a hash as the hash that it is.
#[derive(Debug, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| hash.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl IdIndex {
    /// Reads the hashes of a session, its parents' shared events included.
    pub(crate) fn load(reader: &LogReader, session: &SessionId) -> Result<Self, ReadError> {
        let mut all = reader.event_ids(session)?;
        all.sort_unstable();
        let mut index = Self::default();
        index.hashes.reserve_exact(all.len());
        index.sequences.reserve_exact(all.len());
        for (hash, sequence) in all {
            match u32::try_from(sequence) {
                Ok(small) => {
                    index.hashes.push(hash);
                    index.sequences.push(small);
                }
                Err(_) => index.others.push((hash, sequence)),
            }
        }
        Ok(index)
    }

    /// Sequences of events whose id has this hash: none, one, or by a rare accident several.
    pub(crate) fn candidates(&self, hash: u64) -> Vec<u64> {
        let mut found: Vec<u64> = self.recent.get(&hash).copied().into_iter().collect();
        found.extend(
            self.others.iter().filter(|(other, _)| *other == hash).map(|(_, sequence)| *sequence),
        );
        let at = self.lower_bound(hash);
        let equal = self.hashes.iter().skip(at).take_while(|&&other| other == hash).count();
        found.extend(
            self.sequences.iter().skip(at).take(equal).map(|&sequence| u64::from(sequence)),
        );
        found
    }

    /// Enters one event.
    pub(crate) fn insert(&mut self, hash: u64, sequence: u64) {
        if u32::try_from(sequence).is_err() {
            self.others.push((hash, sequence));
            return;
        }
        if let Some(other) = self.recent.insert(hash, sequence) {
            self.others.push((hash, other));
        }
        if self.recent.len() >= MERGE_AT.max(self.hashes.len() / 8) {
            self.merge();
        }
    }

    fn merge(&mut self) {
        let drained = self
            .recent
            .drain()
            .filter_map(|(hash, sequence)| Some((hash, u32::try_from(sequence).ok()?)));
        let mut merged: Vec<(u64, u32)> = drained.collect();
        merged.sort_unstable();
        self.recent.shrink_to(MERGE_AT);
        // Merge from behind, in place: no second copy of the long list.
        let (old, new) = (self.hashes.len(), merged.len());
        self.hashes.resize(old + new, 0);
        self.sequences.resize(old + new, 0);
        let (mut read, mut write) = (old, old + new);
        while let Some(&(hash, sequence)) = merged.last() {
            write -= 1;
            let behind = read.checked_sub(1).and_then(|at| self.hashes.get(at).copied());
            let (from_hash, from_sequence) = match behind {
                Some(last) if last > hash => {
                    read -= 1;
                    (last, self.sequences.get(read).copied().unwrap_or(0))
                }
                _ => {
                    merged.pop();
                    (hash, sequence)
                }
            };
            if let (Some(h), Some(s)) = (self.hashes.get_mut(write), self.sequences.get_mut(write))
            {
                (*h, *s) = (from_hash, from_sequence);
            }
        }
    }

    /// First place whose hash is not below `hash`.
    fn lower_bound(&self, hash: u64) -> usize {
        let (mut low, mut high) = (0_usize, self.hashes.len());
        let (mut low_hash, mut high_hash) = (0_u64, u64::MAX);
        // A few interpolation steps land within a few entries; bisection finishes and bounds the worst case.
        for _ in 0..4 {
            if high - low < 16 || high_hash <= low_hash {
                break;
            }
            let span = (high - low) as u128;
            let share =
                u128::from(hash.saturating_sub(low_hash)) * span / u128::from(high_hash - low_hash);
            let middle = (low + usize::try_from(share).unwrap_or(0)).clamp(low, high - 1);
            // Probe a little to both sides so that the interval shrinks from both ends.
            for probe in [middle.saturating_sub(8).max(low), (middle + 8).min(high - 1)] {
                match self.hashes.get(probe) {
                    Some(&at) if at < hash && probe >= low => (low, low_hash) = (probe + 1, at),
                    Some(&at) if at >= hash && probe < high => (high, high_hash) = (probe, at),
                    _ => {}
                }
            }
        }
        let window = self.hashes.get(low..high).unwrap_or_default();
        low + window.partition_point(|&at| at < hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::id_hash;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_exactly_what_was_inserted(
            present in prop::collection::vec((any::<u64>(), 1_u64..5_000_000_000), 0..300),
            absent in prop::collection::vec(any::<u64>(), 0..20),
            merge_every in 1_usize..50,
        ) {
            let mut index = IdIndex::default();
            for (at, &(hash, sequence)) in present.iter().enumerate() {
                index.insert(hash, sequence);
                if at % merge_every == 0 {
                    index.merge();
                }
            }
            for &(hash, _) in &present {
                let mut found = index.candidates(hash);
                let mut expected: Vec<u64> =
                    present.iter().filter(|(h, _)| *h == hash).map(|(_, s)| *s).collect();
                found.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
            for hash in absent {
                if present.iter().all(|(h, _)| *h != hash) {
                    prop_assert!(index.candidates(hash).is_empty());
                }
            }
        }
    }

    #[test]
    fn a_large_index_finds_every_event() {
        let mut index = IdIndex::default();
        for sequence in 1..=100_000_u64 {
            index.insert(id_hash(&format!("evt_{sequence}")), sequence);
        }
        for sequence in (1..=100_000_u64).step_by(97) {
            assert_eq!(index.candidates(id_hash(&format!("evt_{sequence}"))), [sequence]);
        }
        assert!(index.candidates(id_hash("evt_0")).is_empty());
    }
}
