//! Owns spreading pure work over the cores: results come in order, and short work stays on the calling thread.

use std::sync::LazyLock;

/// Below this many items a thread costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// Asked once: the answer is read from the control group's files, which takes longer than appending an event.
static CORES: LazyLock<usize> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// The first item that gives something, and where it stands.
pub(crate) fn find_first<T: Sync, R: Send>(
    items: &[T],
    look: impl Fn(&T) -> Option<R> + Sync,
) -> Option<(usize, R)> {
    let found = map_chunks(items, |chunk| {
        let first = chunk.iter().enumerate().find_map(|(at, item)| Some((at, look(item)?)));
        vec![(chunk.len(), first)]
    });
    let mut before = 0;
    for (len, first) in found {
        if let Some((at, result)) = first {
            return Some((before + at, result));
        }
        before += len;
    }
    None
}

/// Maps a slice in chunks, one a core, and joins the results in order.
pub(crate) fn map_chunks<T: Sync, R: Send>(
    items: &[T],
    map: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let worth = items.len() / WORTH_A_THREAD;
    let threads = if worth < 2 { 1 } else { worth.min(*CORES) };
    if threads == 1 {
        return map(items);
    }
    let chunks: Vec<_> = items.chunks(items.len().div_ceil(threads)).collect();
    let mut parts = map_each(&chunks, |chunk| map(chunk)).into_iter();
    let mut results = parts.next().unwrap_or_default();
    parts.for_each(|part| results.extend(part));
    results
}

/// Maps items that are worth a thread each; results come in order. The caller gives no more of them than [`cores`].
pub(crate) fn map_each<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((first, rest)) = items.split_first() else {
        return Vec::new();
    };
    let map = &map;
    std::thread::scope(|scope| {
        let others: Vec<_> =
            rest.iter().map(|item| (item, scope.spawn(move || map(item)))).collect();
        let mut results = Vec::with_capacity(items.len());
        results.push(map(first));
        for (item, other) in others {
            // A thread that panicked is made up for here, where the panic has a caller.
            results.push(other.join().unwrap_or_else(|_| map(item)));
        }
        results
    })
}

/// Folds the first half of a slice into `first`, and the second half, on another core, into what `second` gives. A short
/// slice is folded into `first` alone.
pub(crate) fn fold_halves<T: Sync, S: Send, E: Send>(
    items: &[T],
    first: S,
    second: impl Fn() -> S + Sync,
    fold: impl Fn(S, &T) -> Result<S, E> + Sync,
) -> (Result<S, E>, Option<Result<S, E>>) {
    if items.len() / WORTH_A_THREAD < 2 || *CORES < 2 {
        return (items.iter().try_fold(first, &fold), None);
    }
    let (near, far) = items.split_at(items.len() / 2);
    let rest = || far.iter().try_fold(second(), &fold);
    std::thread::scope(|scope| {
        let other = scope.spawn(rest);
        let folded = near.iter().try_fold(first, &fold);
        // A thread that panicked is made up for here, where the panic has a caller.
        (folded, Some(other.join().unwrap_or_else(|_| rest())))
    })
}

/// How many threads run at once here.
pub(crate) fn cores() -> usize {
    *CORES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_first_whatever_the_chunks() {
        for len in [0, 1, WORTH_A_THREAD, 2 * WORTH_A_THREAD, 5 * WORTH_A_THREAD + 3] {
            let items: Vec<usize> = (0..len).collect();
            assert_eq!(map_chunks(&items, <[usize]>::to_vec), items);
            for first in [0, 1, len / 2, len.saturating_sub(1), len] {
                let found = find_first(&items, |item| (*item >= first).then_some(item * 2));
                assert_eq!(found, (first < len).then_some((first, first * 2)), "{first} of {len}");
            }
        }
    }
}
