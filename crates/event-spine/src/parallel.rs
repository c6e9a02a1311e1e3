//! Owns spreading pure work over the cores: results come in order, and short work stays on the calling thread.

/// Below this many items a thread costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// Maps a slice in chunks, one a core, and joins the results in order.
pub(crate) fn map_chunks<T: Sync, R: Send>(
    items: &[T],
    map: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(items.len() / WORTH_A_THREAD).max(1);
    if threads == 1 {
        return map(items);
    }
    let size = items.len().div_ceil(threads);
    let (first, rest) = items.split_at(size.min(items.len()));
    std::thread::scope(|scope| {
        let others: Vec<_> =
            rest.chunks(size).map(|chunk| (chunk, scope.spawn(|| map(chunk)))).collect();
        let mut results = map(first);
        for (chunk, other) in others {
            // A thread that panicked is made up for here, where the panic has a caller.
            results.extend(other.join().unwrap_or_else(|_| map(chunk)));
        }
        results
    })
}
