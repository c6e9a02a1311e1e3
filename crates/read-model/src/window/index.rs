//! Owns finding a row of a window by its key.

use std::hash::{BuildHasher as _, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Where the newest row of each key is, unless it was released. It holds hashes; the keys are in the rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    places: HashTable<(u64, u64)>,
    hasher: DefaultHashBuilder,
}

impl Index {
    pub(super) fn hash(&self, key: &impl Hash) -> u64 {
        self.hasher.hash_one(key)
    }

    /// True when no row can be found by a key.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The place of a key; `is` tells whether the row at a place has it.
    pub(super) fn find(&self, hash: u64, is: impl Fn(u64) -> bool) -> Option<u64> {
        let found = self.places.find(hash, |(known, place)| *known == hash && is(*place));
        found.map(|(_, place)| *place)
    }

    /// Makes a row the newest of its key; `is` tells whether the row at a place has the key too.
    pub(super) fn set(&mut self, hash: u64, place: u64, is: impl Fn(u64) -> bool) {
        let same = |(known, place): &(u64, u64)| *known == hash && is(*place);
        match self.places.find_mut(hash, same) {
            Some(entry) => entry.1 = place,
            None => {
                self.places.insert_unique(hash, (hash, place), |(hash, _)| *hash);
            }
        }
    }

    /// Forgets a row, if it is the newest of its key.
    pub(super) fn forget(&mut self, hash: u64, place: u64) {
        if let Ok(entry) = self.places.find_entry(hash, |(_, known)| *known == place) {
            entry.remove();
        }
    }
}
