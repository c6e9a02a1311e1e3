//! Owns step four of the way in: dense sequence, salt, leaf, chain.

use crate::id::SessionId;
use crate::integrity::{self, Salt};
use crate::record::{EventDraft, RecordedEvent};
use crate::store::Head;
use crate::time::{Entropy, RecordedAt};

/// Numbers and chains drafts behind `head`; gives the events and the head after them.
pub(crate) fn seal(
    session_id: &SessionId,
    mut head: Head,
    recorded_at: RecordedAt,
    entropy: &dyn Entropy,
    drafts: Vec<EventDraft>,
) -> (Vec<RecordedEvent>, Head) {
    // One draw for the batch: asking the system once an event costs more than the hashing.
    let mut random = vec![0_u8; drafts.len() * size_of::<Salt>()];
    entropy.fill(&mut random);
    let (salts, _) = random.as_chunks::<{ size_of::<Salt>() }>();
    let mut events: Vec<RecordedEvent> = drafts
        .into_iter()
        .zip(salts)
        .zip(head.sequence + 1..)
        .map(|((draft, &salt), sequence)| {
            let session_id = session_id.clone();
            RecordedEvent { session_id, sequence, recorded_at, salt, chain: head.chain, draft }
        })
        .collect();
    let leaves = integrity::leaves(&events);
    for (event, leaf) in events.iter_mut().zip(leaves) {
        head = Head { sequence: event.sequence, chain: head.chain.next(&leaf) };
        event.chain = head.chain;
    }
    (events, head)
}
