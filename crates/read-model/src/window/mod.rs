//! Owns the list that every view is made of: everything open, the newest of what is settled, exact totals, and where
//! the rest begins.
//!
//! ```text
//!   facts      ······················ before ─────────────────────► head
//!   window       (open row)               row  row  row  row  row
//!                 └ open rows stay, however old
//! ```
//! Rows whose first event comes before `before` are folded again from the log when somebody asks for them
//! ([`page`](fn@crate::page)).

mod index;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::hash::Hash;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::index::Index;
use crate::limits::Limits;

/// What a row of a [`Window`] tells of itself.
pub trait Row {
    /// What the row is found by. It is borrowed from the row: finding, adding and dropping rows copies no text.
    type Key<'a>: Eq + Hash
    where
        Self: 'a;

    /// What the row is found by; nothing for rows that nobody looks for.
    fn key(&self) -> Option<Self::Key<'_>>;

    /// Sequence of the event that brought the row.
    fn first(&self) -> u64;

    /// Sequence of the last event that settled or touched the settled row; nothing while it is open.
    fn settled(&self) -> Option<u64>;

    /// Bytes of text the row holds.
    fn weight(&self) -> usize {
        0
    }
}

/// A row's place in a [`Window`], until the row is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(u64);

/// A bounded list of rows in the order of their first events.
#[derive(Debug, Clone)]
pub struct Window<R: Row> {
    keep: usize,
    keep_open: usize,
    keep_bytes: usize,
    total: u64,
    dropped: u64,
    abandoned: u64,
    before: Option<u64>,
    /// Next place.
    next: u64,
    rows: VecDeque<Slot<R>>,
    index: Index,
    /// Places of open rows, ascending.
    open: Vec<u64>,
    /// Settled rows in the order in which they settled; an entry whose row was touched since is void.
    settled: VecDeque<(u64, u64)>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Slot<R> {
    place: u64,
    row: R,
}

impl<R: Row> Window<R> {
    /// Sets how much is kept and drops what is too much.
    pub fn limit(&mut self, limits: &Limits) {
        self.keep = limits.items;
        self.keep_open = limits.open_items;
        self.keep_bytes = limits.list_bytes;
        self.trim();
    }

    /// Adds a row at the end. A row of the same key stays in the list and is no longer found by it.
    pub fn push(&mut self, row: R) -> Place {
        let place = self.next;
        self.next += 1;
        self.total += 1;
        self.adopt(place, row);
        self.trim();
        Place(place)
    }

    /// How many rows there ever were.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// How many rows are no longer here.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How many of the dropped rows were still open: more was opened than a window may hold.
    #[must_use]
    pub const fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// Every row whose first event has this sequence or a later one is here; nothing when all rows are here. A row that
    /// settled late may be here although its first event is older; then it is in an older page too.
    #[must_use]
    pub const fn before(&self) -> Option<u64> {
        self.before
    }

    /// How many rows are here.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True when no row is here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &R> {
        self.rows.iter().map(|slot| &slot.row)
    }

    /// The open rows, oldest first.
    pub fn open(&self) -> impl DoubleEndedIterator<Item = &R> {
        self.open.iter().filter_map(|place| self.at(Place(*place)))
    }

    /// The rows with their places, oldest first.
    pub(crate) fn places(&self) -> impl DoubleEndedIterator<Item = (Place, &R)> {
        self.rows.iter().map(|slot| (Place(slot.place), &slot.row))
    }

    /// The open rows with their places, oldest first.
    pub(crate) fn open_places(&self) -> impl DoubleEndedIterator<Item = (Place, &R)> {
        let at = |place: &u64| Some((Place(*place), self.at(Place(*place))?));
        self.open.iter().filter_map(at)
    }

    /// How many rows are open.
    #[must_use]
    pub fn open_len(&self) -> usize {
        self.open.len()
    }

    /// The newest row with this key, if it is here.
    pub fn get<'a>(&'a self, key: R::Key<'a>) -> Option<&'a R> {
        self.at(self.place(key)?)
    }

    /// Where the newest row with this key is.
    pub fn place<'a>(&'a self, key: R::Key<'a>) -> Option<Place> {
        if self.index.is_empty() {
            return None;
        }
        let is = |place| self.at(Place(place)).and_then(Row::key).is_some_and(|known| known == key);
        self.index.find(self.index.hash(&key), is).map(Place)
    }

    /// The row at a place, if it is still here.
    #[must_use]
    pub fn at(&self, place: Place) -> Option<&R> {
        self.rows.get(self.slot(place)?).map(|slot| &slot.row)
    }

    /// The newest row.
    #[must_use]
    pub fn last(&self) -> Option<(Place, &R)> {
        self.rows.back().map(|slot| (Place(slot.place), &slot.row))
    }

    /// Changes the row at a place, if there is one. Its key and first event must stay what they are.
    pub fn update_at<T>(
        &mut self,
        place: impl Into<Option<Place>>,
        change: impl FnOnce(&mut R) -> T,
    ) -> Option<T> {
        let place = place.into()?;
        let at = self.slot(place)?;
        let row = &mut self.rows.get_mut(at)?.row;
        let (was, weight) = (row.settled(), row.weight());
        let result = change(row);
        let (is, now) = (row.settled(), row.weight());
        self.bytes = (self.bytes + now).saturating_sub(weight);
        if was != is {
            match (was, is) {
                (None, Some(_)) => self.open.retain(|open| *open != place.0),
                (Some(_), None) => {
                    let at = self.open.partition_point(|open| *open < place.0);
                    self.open.insert(at, place.0);
                }
                (None, None) | (Some(_), Some(_)) => {}
            }
            if let Some(sequence) = is {
                self.settled.push_back((place.0, sequence));
            }
            self.trim();
        } else if now > weight {
            self.trim();
        }
        Some(result)
    }

    /// Changes the row at a place, and what it is found by. Its first event must stay what it is.
    pub(crate) fn rename_at(&mut self, place: Place, change: impl FnOnce(&mut R)) {
        self.release(place);
        self.update_at(place, change);
        self.list(place);
    }

    /// Changes every open row that `pick` wants; gives how many those were.
    pub fn update_open(
        &mut self,
        pick: impl Fn(&R) -> bool,
        mut change: impl FnMut(&mut R),
    ) -> usize {
        if self.open.is_empty() {
            return 0;
        }
        let places: Vec<Place> = self
            .open
            .iter()
            .map(|place| Place(*place))
            .filter(|place| self.at(*place).is_some_and(&pick))
            .collect();
        for place in &places {
            self.update_at(*place, &mut change);
        }
        places.len()
    }

    /// Changes every row that is here and that `pick` wants; gives how many those were.
    pub fn update_all(
        &mut self,
        pick: impl Fn(&R) -> bool,
        mut change: impl FnMut(&mut R),
    ) -> usize {
        let places: Vec<Place> =
            self.rows.iter().filter(|slot| pick(&slot.row)).map(|slot| Place(slot.place)).collect();
        for place in &places {
            self.update_at(*place, &mut change);
        }
        places.len()
    }

    /// Lets the key of a row go: the row stays, and the next row of this key is another one.
    pub fn release(&mut self, place: Place) {
        let hash = self.at(place).and_then(Row::key).map(|key| self.index.hash(&key));
        if let Some(hash) = hash {
            self.index.forget(hash, place.0);
        }
    }

    fn slot(&self, place: Place) -> Option<usize> {
        slot(&self.rows, place)
    }

    fn adopt(&mut self, place: u64, row: R) {
        match row.settled() {
            None => self.open.push(place),
            Some(sequence) => self.settled.push_back((place, sequence)),
        }
        self.bytes += row.weight();
        self.rows.push_back(Slot { place, row });
        self.list(Place(place));
    }

    /// Makes the row at a place the one that its key finds.
    fn list(&mut self, place: Place) {
        let rows = &self.rows;
        let key = |place| slot(rows, place).and_then(|at| rows.get(at)?.row.key());
        if let Some(own) = key(place) {
            let is = |other| key(Place(other)).is_some_and(|key| key == own);
            self.index.set(self.index.hash(&own), place.0, is);
        }
    }

    fn trim(&mut self) {
        while self.open.len() > self.keep_open {
            let oldest = self.open.remove(0);
            self.drop_row(oldest);
            self.abandoned += 1;
        }
        loop {
            let settled = self.rows.len() - self.open.len();
            if settled <= self.keep && (self.bytes <= self.keep_bytes || settled <= 1) {
                break;
            }
            let Some((place, sequence)) = self.settled.pop_front() else {
                break;
            };
            if self.at(Place(place)).and_then(Row::settled) == Some(sequence) {
                self.drop_row(place);
            }
        }
        // Void entries pile up when the same rows are touched again and again.
        if self.settled.len() > 2 * self.rows.len() + 64 {
            let mut settled = std::mem::take(&mut self.settled);
            settled.retain(|(place, sequence)| {
                self.at(Place(*place)).and_then(Row::settled) == Some(*sequence)
            });
            self.settled = settled;
        }
    }

    fn drop_row(&mut self, place: u64) {
        let Some(slot) = self.slot(Place(place)).and_then(|at| self.rows.remove(at)) else {
            return;
        };
        self.dropped += 1;
        self.bytes = self.bytes.saturating_sub(slot.row.weight());
        self.before = self.before.max(Some(slot.row.first() + 1));
        let hash = slot.row.key().map(|key| self.index.hash(&key));
        if let Some(hash) = hash {
            self.index.forget(hash, place);
        }
    }
}

/// Where the row of a place stands.
fn slot<R>(rows: &VecDeque<Slot<R>>, place: Place) -> Option<usize> {
    // Rows are mostly dropped at the front, so a place is nearly always where the distance to the end says; but behind
    // open rows that stayed it is one of the first.
    let back = rows.back()?.place.checked_sub(place.0)?;
    let guess = rows.len().checked_sub(usize::try_from(back).ok()?.checked_add(1)?);
    if let Some(at) = guess
        && rows.get(at).is_some_and(|slot| slot.place == place.0)
    {
        return Some(at);
    }
    let first = rows.iter().take(4).position(|slot| slot.place == place.0);
    first.or_else(|| rows.binary_search_by_key(&place.0, |slot| slot.place).ok())
}

impl<R: Row> Default for Window<R> {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            keep: limits.items,
            keep_open: limits.open_items,
            keep_bytes: limits.list_bytes,
            total: 0,
            dropped: 0,
            abandoned: 0,
            before: None,
            next: 0,
            rows: VecDeque::new(),
            index: Index::default(),
            open: Vec::new(),
            settled: VecDeque::new(),
            bytes: 0,
        }
    }
}

/// Two windows are equal when they say the same; how they find their rows does not count.
impl<R: Row + PartialEq> PartialEq for Window<R> {
    fn eq(&self, other: &Self) -> bool {
        (self.total, self.dropped, self.abandoned, self.before)
            == (other.total, other.dropped, other.abandoned, other.before)
            && self.rows.len() == other.rows.len()
            && self.iter().eq(other.iter())
    }
}

impl<R: Row> Window<R> {
    /// Positions of the rows that are not found by their key: a newer row took it, or it was released.
    fn unkeyed(&self) -> Vec<usize> {
        let keyed = |slot: &Slot<R>| {
            let key = slot.row.key();
            key.is_none_or(|key| self.place(key) == Some(Place(slot.place)))
        };
        let rows = self.rows.iter().enumerate();
        rows.filter(|(_, slot)| !keyed(slot)).map(|(at, _)| at).collect()
    }
}

struct Items<'a, R: Row>(&'a Window<R>);

impl<R: Row + Serialize> Serialize for Items<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<R: Row + Serialize> Serialize for Window<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut window = serializer.serialize_struct("Window", 6)?;
        window.serialize_field("total", &self.total)?;
        window.serialize_field("dropped", &self.dropped)?;
        window.serialize_field("abandoned", &self.abandoned)?;
        window.serialize_field("before", &self.before)?;
        window.serialize_field("items", &Items(self))?;
        window.serialize_field("unkeyed", &self.unkeyed())?;
        window.end()
    }
}

impl<'de, R: Row + Deserialize<'de>> Deserialize<'de> for Window<R> {
    /// Reads a window without a bound; [`Window::limit`] sets it. The order in which rows settled follows from them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Json<R> {
            total: u64,
            dropped: u64,
            abandoned: u64,
            before: Option<u64>,
            items: Vec<R>,
            unkeyed: Vec<usize>,
        }
        let json = Json::<R>::deserialize(deserializer)?;
        let mut window = Self {
            total: json.total,
            dropped: json.dropped,
            abandoned: json.abandoned,
            before: json.before,
            ..Self::default()
        };
        for row in json.items {
            let place = window.next;
            window.next += 1;
            window.adopt(place, row);
        }
        for at in json.unkeyed {
            // Nothing happens where a newer row of the same key has taken the entry already.
            if let Some(place) = window.rows.get(at).map(|slot| Place(slot.place)) {
                window.release(place);
            }
        }
        window.settled.make_contiguous().sort_by_key(|(place, sequence)| (*sequence, *place));
        Ok(window)
    }
}
