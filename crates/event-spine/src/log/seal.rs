//! Owns step four of the way in: dense sequence, salt, leaf, chain.

use crate::id::SessionId;
use crate::integrity::{Salt, leaf};
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
    let events = drafts
        .into_iter()
        .zip(salts)
        .map(|(draft, &salt)| {
            let sequence = head.sequence + 1;
            let leaf = leaf(session_id, sequence, recorded_at, &salt, &draft);
            head = Head {
                sequence,
                chain: head.chain.next(&leaf),
            };
            let session_id = session_id.clone();
            RecordedEvent {
                session_id,
                sequence,
                recorded_at,
                salt,
                chain: head.chain,
                draft,
            }
        })
        .collect();
    (events, head)
}
