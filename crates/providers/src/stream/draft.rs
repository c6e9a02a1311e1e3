//! Owns how an adapter writes a draft: its id, its time, its ref to the raw frame, its marks.

use event_spine::event::EventPayload;
use event_spine::{
    EventDraft, EventId, EventType, JsonText, Ref, RefKind, RefOrigin, Refs, RuntimeId, Scope,
    SessionId, Timestamp,
};

use super::{AdapterContext, SessionDraft};

/// Id of the raw ref when the caller keeps no copy of the input.
pub(super) const UNKEPT: &str = "unkept-input";

/// Where a draft comes from: the session, the frame (0 for what the end of the input gives rise to) and its time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) session: &'a SessionId,
    pub(super) frame: u64,
    pub(super) time: Option<&'a Timestamp>,
}

/// Writes the drafts of one adapter.
#[derive(Debug, Clone)]
pub(super) struct Drafter {
    system: &'static str,
    version: u32,
    runtime: RuntimeId,
    raw: String,
    fallback: Timestamp,
}

impl Drafter {
    pub(super) fn new(
        system: &'static str,
        version: u32,
        runtime: RuntimeId,
        context: &AdapterContext,
    ) -> Self {
        Self {
            system,
            version,
            runtime,
            raw: context.raw.clone().unwrap_or_else(|| UNKEPT.to_owned()),
            fallback: context.timestamp.clone(),
        }
    }

    /// This drafter, speaking for another runtime.
    pub(super) fn speaking_for(&self, runtime: RuntimeId) -> Self {
        Self { runtime, ..self.clone() }
    }

    /// A draft whose id follows from `key`.
    pub(super) fn draft<P: EventPayload>(
        &self,
        source: Source<'_>,
        key: &[&str],
        scope: Scope,
        payload: &P,
    ) -> SessionDraft {
        let payload_text = JsonText::from_value(payload);
        let event_type = EventType::Known(P::descriptor());
        self.raw_draft(
            source,
            key,
            scope,
            event_type,
            payload_text.unwrap_or_else(|_| JsonText::empty_object()),
        )
    }

    /// As [`Drafter::draft`], for what no frame says but the state of the stream: marked `synthetic`.
    pub(super) fn synthetic<P: EventPayload>(
        &self,
        source: Source<'_>,
        key: &[&str],
        scope: Scope,
        payload: &P,
    ) -> SessionDraft {
        let mut made = self.draft(source, key, scope, payload);
        made.draft.payload = with_member(&made.draft.payload, "synthetic", "true");
        made
    }

    fn raw_draft(
        &self,
        source: Source<'_>,
        key: &[&str],
        scope: Scope,
        event_type: EventType,
        payload: JsonText,
    ) -> SessionDraft {
        let mut parts = vec![self.system, source.session.as_str()];
        parts.extend_from_slice(key);
        SessionDraft {
            session_id: source.session.clone(),
            draft: EventDraft {
                schema_version: event_spine::SCHEMA_VERSION.into(),
                runtime_id: self.runtime.clone(),
                event_id: EventId::derived(&parts),
                // A blank one is none: the contract wants a time, and what is stored must be readable again.
                timestamp: source
                    .time
                    .filter(|time| !time.as_str().trim().is_empty())
                    .unwrap_or(&self.fallback)
                    .clone(),
                event_type,
                scope,
                refs: self.refs(source.frame),
                payload,
                extra: None,
            },
        }
    }

    fn refs(&self, frame: u64) -> Refs {
        let mut raw = Ref::new(RefKind::Raw, self.raw.clone());
        raw.origin =
            Some(RefOrigin { system: self.system.to_owned(), adapter: self.version, frame });
        Refs::from_list(&[raw]).unwrap_or(Refs::NONE)
    }
}

/// The object with one more member at its end; `value` is JSON.
pub(super) fn with_member(object: &JsonText, name: &str, value: &str) -> JsonText {
    let Some(head) = object.as_str().strip_suffix('}') else {
        return object.clone();
    };
    let comma = if head.ends_with('{') { "" } else { "," };
    JsonText::parse(&format!("{head}{comma}\"{name}\":{value}}}"))
        .map_or_else(|_| object.clone(), |(text, _)| text)
}
