//! Owns the clock and the randomness of the process: the only place in the project that asks the system for either.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use event_spine::{Clock, Entropy, RecordedAt};

use crate::failure::Failure;

/// The system's clock.
#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the system clock that the binary builds")]
    fn now(&self) -> RecordedAt {
        let now = SystemTime::now();
        let micros = match now.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
        };
        RecordedAt(micros)
    }
}

/// Randomness: a key drawn from the system once, stretched by keyed BLAKE3. So drawing cannot fail later, and a salt
/// costs no system call.
pub(crate) struct SystemEntropy {
    key: [u8; 32],
    drawn: AtomicU64,
}

impl SystemEntropy {
    /// Draws the key.
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)
            .map_err(|e| Failure::input(format!("the system gives no randomness: {e}")))?;
        Ok(Self { key, drawn: AtomicU64::new(0) })
    }
}

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let draw = self.drawn.fetch_add(1, Ordering::Relaxed);
        blake3::Hasher::new_keyed(&self.key).update(&draw.to_le_bytes()).finalize_xof().fill(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_draw_differs() {
        let (a, b) = (SystemEntropy::new().unwrap(), SystemEntropy::new().unwrap());
        let draw = |from: &SystemEntropy| {
            let mut bytes = [0; 16];
            from.fill(&mut bytes);
            bytes
        };
        let draws = [draw(&a), draw(&a), draw(&b)];
        assert!(draws[0] != draws[1] && draws[1] != draws[2] && draws[0] != draws[2]);
    }

    #[test]
    fn the_clock_gives_microseconds_of_this_century() {
        assert!((1_700_000_000_000_000..4_000_000_000_000_000).contains(&SystemClock.now().0));
    }
}
