//! The laws that every view keeps, tried on streams that are mostly nonsense: any order, any ids, any times.

mod consumers;
mod samples;

use std::sync::Arc;

use event_spine::{
    EventLog, Expected, LogOptions, RecordedAt, RecordedEvent, SeededEntropy, SteppingClock,
};
use proptest::prelude::*;

use self::samples::stream;
use crate::checkpoint::{decode, encode};
use crate::testing::{fold, session};
use crate::{
    Applied, CHECKPOINT_NAME, CheckpointStore, Engine, EngineOptions, Freshness, Limits,
    NoCheckpoints, Received, Repair, Replica, ReplicaOptions, SessionView, compare, replay_with,
};

/// So small that everything is dropped, cut and left out all the time.
const SMALL: Limits = Limits {
    items: 3,
    open_items: 4,
    list_bytes: 200,
    text_bytes: 32,
    preview_bytes: 16,
    document_bytes: 64,
};

fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![Just(SMALL), Just(Limits::default())]
}

fn log() -> EventLog {
    let clock = SteppingClock::new(RecordedAt(1_781_006_400_000_000), 1_000_000);
    EventLog::in_memory(LogOptions::new(Arc::new(clock), Arc::new(SeededEntropy::new(7))))
}

fn assert_same(a: &SessionView, b: &SessionView) -> Result<(), TestCaseError> {
    prop_assert_eq!(compare(a, b), None);
    prop_assert_eq!(a.state_hash(), b.state_hash());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // verifies: R61 H07
    #[test]
    fn repeats_change_nothing(events in stream(80), limits in limits()) {
        let once = fold(&events, limits);
        let mut twice = SessionView::with_limits(session(), limits);
        for (at, event) in events.iter().enumerate() {
            twice.apply(event);
            prop_assert_eq!(twice.apply(event), Applied::Duplicate);
            prop_assert_eq!(twice.apply(&events[at / 2]), Applied::Duplicate);
        }
        assert_same(&once, &twice)?;
    }

    // verifies: H07
    #[test]
    fn a_snapshot_and_its_tail_are_the_whole(
        events in stream(80), cut in 0_usize..80, limits in limits(),
    ) {
        let whole = fold(&events, limits);
        let cut = cut.min(events.len());
        let saved = encode(&fold(&events[..cut], limits)).unwrap();
        let mut view = decode(&saved, &session(), limits).unwrap();
        assert_same(&view, &fold(&events[..cut], limits))?;
        for event in &events {
            view.apply(event); // the first ones again: the snapshot has them
        }
        assert_same(&whole, &view)?;
    }

    // verifies: R1 H07
    #[test]
    fn any_split_into_batches_gives_what_a_replay_gives(
        events in stream(60), sizes in prop::collection::vec(1_usize..9, 1..60), limits in limits(),
        every in 1_u64..20,
    ) {
        let log = log();
        let options = EngineOptions { limits, checkpoint_every: every, checkpoint_after: 1, sessions: 1 };
        let engine = Engine::with_options(log.reader(), log.checkpoints(), options);
        // The log refuses what cannot be read; the other laws have that too.
        let drafts = events.into_iter().map(|event| event.draft);
        let mut drafts = drafts.filter(|draft| draft.event().is_ok());
        let mut last = None;
        for size in sizes {
            let batch: Vec<_> = drafts.by_ref().take(size).collect();
            if batch.is_empty() {
                break;
            }
            let known = log.append(&session(), Expected::Any, batch);
            prop_assert!(known.is_ok(), "{:?}", known.err());
            last = Some(engine.view(&session()).unwrap());
        }
        if let Some(served) = last {
            let replayed = replay_with(engine.reader(), &session(), None, limits, |_| {}).unwrap();
            assert_same(&served, &replayed)?;
            // And again from the checkpoints, in another process.
            engine.close();
            let other = Engine::with_options(log.reader(), log.checkpoints(), options);
            assert_same(&other.view(&session()).unwrap(), &replayed)?;
            prop_assert_eq!(other.prove(&session()).unwrap(), None);
        }
    }

    // verifies: R59
    #[test]
    fn a_replica_fed_with_gaps_and_reordering_converges_after_repair(
        events in stream(60), order in prop::collection::vec((0_usize..60, any::<bool>()), 0..120),
        held in 1_usize..12, tail in 1_usize..12,
    ) {
        let options = ReplicaOptions { tail, held, verify: true };
        let mut replica = Replica::new(session(), Limits::default(), options);
        for (at, lost) in order {
            if let Some(event) = events.get(at).filter(|_| !lost) {
                replica.receive(event.clone());
            }
        }
        if let Some(newest) = events.last() {
            replica.receive(newest.clone()); // so that it learns how far there is to go
        }
        let mut asked = 0;
        while let Some(repair) = replica.repair() {
            prop_assert_eq!(replica.freshness(), Freshness::Repairing);
            asked += 1;
            prop_assert!(asked <= events.len() + 2, "it asks for ever");
            match repair {
                Repair::Range { from, to, .. } => {
                    for event in &events {
                        if event.sequence >= from && to.is_none_or(|to| event.sequence <= to) {
                            replica.receive(event.clone());
                        }
                    }
                }
                Repair::Snapshot { .. } => prop_assert!(false, "nothing diverged"),
            }
        }
        assert_same(replica.view(), &fold(&events, Limits::default()))?;
        prop_assert_eq!(replica.held(), 0);
    }

    // verifies: H32
    #[test]
    fn tokens_add_up_on_every_level(events in stream(80)) {
        use crate::projections::usage::Totals;
        let usage = fold(&events, Limits::default()).usage;
        let sum = |parts: &mut dyn Iterator<Item = Totals>| {
            parts.fold(Totals::default(), |sum, part| sum.plus(&part))
        };
        prop_assert_eq!(sum(&mut usage.accounts.iter().map(|a| a.counted)), usage.session);
        let agents = usage.accounts.iter().filter(|a| a.subagent_id.is_some());
        prop_assert_eq!(sum(&mut agents.map(|a| a.counted)), usage.subagents);
        let calls = sum(&mut usage.calls.iter().map(crate::projections::usage::Call::totals));
        prop_assert_eq!(sum(&mut usage.models.values().copied()), calls);
        prop_assert_eq!(sum(&mut usage.accounts.iter().map(|a| a.calls)), calls);
    }

    /// The size of a state depends on its limits, not on the number of events.
    #[test]
    fn states_stay_small(seed in stream(40)) {
        let drafts: Vec<_> = seed.iter().map(|event| event.draft.clone()).collect();
        let mut many = Vec::new();
        for round in 0..10 {
            for (at, draft) in drafts.iter().enumerate() {
                let mut draft = draft.clone();
                draft.event_id = format!("evt_{round}_{at}").parse().unwrap();
                // Other ids in every round, so that everything is new.
                for name in ["turnId", "messageId", "toolCallId", "actionId", "taskId", "subagentId", "artifactId"] {
                    if let Some(id) = draft.scope.get(name).map(|id| format!("{id}.{round}")) {
                        draft.scope.set(name, &id).unwrap();
                    }
                }
                many.push(draft);
            }
        }
        let events = crate::testing::seal(many);
        let sizes = |upto: usize| {
            let view = serde_json::to_value(fold(&events[..upto], SMALL)).unwrap();
            let views = view.as_object().unwrap().clone();
            // The graph has bounds of its own, and tests of them.
            let views = views.into_iter().filter(|(name, _)| name != "graph");
            views.map(|(name, view)| (name, view.to_string().len()))
        };
        for ((name, half), (_, whole)) in sizes(events.len() / 2).zip(sizes(events.len())) {
            prop_assert!(whole <= half * 5 / 4 + 1024, "{name}: {half} bytes grew to {whole}");
        }
    }
}

/// Two histories that part after a barrier, as after a crash of the sender.
fn parted(common: usize) -> (Vec<RecordedEvent>, Vec<RecordedEvent>) {
    let lines = |tail: &str| {
        let mut lines = String::new();
        for at in 0..common {
            lines.push_str(&format!("turn.submitted turn=u{at} {{\"text\":\"{at}\"}}\n"));
        }
        crate::testing::events(&(lines + tail))
    };
    (
        lines(
            "model.delta turn=u0 message=m1 {\"delta\":\"lost\"}\nmodel.delta turn=u0 message=m1 {\"delta\":\"too\"}",
        ),
        lines("model.delta turn=u0 message=m1 {\"delta\":\"kept\"}\nturn.completed turn=u0"),
    )
}

#[test]
fn a_replica_that_saw_what_a_crash_took_goes_back_to_the_last_barrier() {
    for (common, tail) in [(3, 64), (3, 3), (1, 8)] {
        let (before, after) = parted(common);
        let options = ReplicaOptions { tail, ..ReplicaOptions::default() };
        let mut replica = Replica::new(session(), Limits::default(), options);
        for event in &before {
            replica.receive(event.clone());
        }
        // The number of a lost event comes again with another content.
        assert_eq!(replica.receive(after[common].clone()), Received::Diverged);
        assert_eq!(replica.view().at.sequence, common as u64, "the last barrier");
        let Some(Repair::Range { from, after: chain, .. }) = replica.repair() else {
            panic!("it can repair from a range");
        };
        assert_eq!((from, chain), (common as u64 + 1, before[common - 1].chain));
        for event in &after {
            replica.receive(event.clone());
        }
        assert_eq!(replica.freshness(), Freshness::Live);
        assert_eq!(compare(replica.view(), &fold(&after, Limits::default())), None);
    }
}

#[test]
fn a_replica_whose_kept_past_is_too_short_takes_a_snapshot() {
    let (before, after) = parted(2);
    let options = ReplicaOptions { tail: 1, ..ReplicaOptions::default() };
    let mut replica = Replica::new(session(), Limits::default(), options);
    for event in &before {
        replica.receive(event.clone());
    }
    replica.go_back(event_spine::Head { sequence: 1, chain: before[0].chain });
    assert_eq!(replica.repair(), Some(Repair::Snapshot { session_id: session() }));
    let mut other = fold(&after, Limits::default());
    other.at.reducer_version += 1;
    assert!(!replica.take_snapshot(other), "of another version of the folds");
    assert!(replica.take_snapshot(fold(&after, Limits::default())));
    assert_eq!(replica.freshness(), Freshness::Live);
    assert_eq!(replica.repair(), None);
}

#[test]
fn a_replica_that_hears_of_a_newer_head_is_stale_until_it_is_there() {
    let (before, _) = parted(2);
    let mut replica = Replica::new(session(), Limits::default(), ReplicaOptions::default());
    replica.receive(before[0].clone());
    assert_eq!(replica.freshness(), Freshness::Live);
    replica.told_head(event_spine::Head { sequence: 2, chain: before[1].chain });
    assert_eq!(replica.freshness(), Freshness::Stale);
    assert_eq!(replica.receive(before[1].clone()), Received::Applied(1));
    assert_eq!(replica.freshness(), Freshness::Live);
}

/// A store that gives what it was told to.
struct Planted(Vec<u8>);

impl CheckpointStore for Planted {
    fn get(&self, _: &event_spine::SessionId, name: &str) -> Option<Vec<u8>> {
        assert_eq!(name, CHECKPOINT_NAME);
        Some(self.0.clone())
    }
    fn put(&self, _: &event_spine::SessionId, _: &str, _: &[u8]) {}
    fn remove(&self, _: &event_spine::SessionId, _: &str) {}
}

#[test]
fn checkpoints_that_cannot_be_believed_are_folded_again() {
    let (mine, other) = parted(2);
    let log = log();
    log.append(&session(), Expected::Any, mine.iter().map(|e| e.draft.clone()).collect()).unwrap();
    let options = EngineOptions::default();
    let honest = Engine::with_options(log.reader(), NoCheckpoints, options);
    let honest = honest.view(&session()).unwrap();
    let check = |what: &str, bytes: Vec<u8>| {
        let engine = Engine::with_options(log.reader(), Planted(bytes), options);
        assert_eq!(compare(&engine.view(&session()).unwrap(), &honest), None, "{what}");
        assert_eq!(engine.prove(&session()).unwrap(), None, "{what}");
    };
    let good = encode(&honest).unwrap();
    check("the right one", good.clone());
    check("nothing", Vec::new());
    check("noise", vec![0xff; 300]);
    for at in [0, 20, 80, 200, good.len() - 2] {
        let mut damaged = good.clone();
        damaged[at] ^= 1;
        check("a flipped bit", damaged);
        check("cut off", good[..at].to_vec());
    }
    let mut version = (*honest).clone();
    version.at.reducer_version += 1;
    check("another version", encode(&version).unwrap());
    check("another history", encode(&fold(&other, Limits::default())).unwrap());
    check("other limits", encode(&fold(&mine, SMALL)).unwrap());
    let mut ahead = (*honest).clone();
    ahead.at.sequence += 40;
    check("further than the log", encode(&ahead).unwrap());
}

#[test]
fn pages_and_the_head_together_are_the_whole() {
    let mut lines = String::new();
    for at in 0..40 {
        lines.push_str(&format!(
            "turn.submitted turn=u{at} {{\"text\":\"q{at}\"}}\n\
             turn.started turn=u{at}\n\
             model.delta turn=u{at} message=m{at} {{\"delta\":\"a{at}\"}}\n\
             tool.started turn=u{at} step=s1 tool=c{at} {{\"toolName\":\"sh\"}}\n\
             tool.result turn=u{at} step=s1 tool=c{at} {{\"status\":\"succeeded\"}}\n\
             turn.completed turn=u{at}\n"
        ));
    }
    let log = log();
    log.append(&session(), Expected::Any, crate::testing::drafts(&lines)).unwrap();
    let reader = log.reader();
    let whole = replay_with(&reader, &session(), None, Limits::default(), |_| {}).unwrap();
    let small = Limits { items: 10, ..Limits::default() };
    let head = replay_with(&reader, &session(), None, small, |_| {}).unwrap();

    let parts = &head.transcript.parts;
    assert_eq!((parts.total(), parts.dropped()), (120, 110));
    let mut before = parts.before();
    // Rows that settled late are in the head and in their page.
    let first = before.unwrap();
    let mut seen: Vec<_> =
        parts.iter().filter(|part| part.first.sequence >= first).cloned().collect();
    let mut pages = 0;
    while let Some(cursor) = before {
        let page = crate::page(&reader, &session(), cursor, 30).unwrap();
        assert!(
            page.from == 1 || (page.from - 1).is_multiple_of(6),
            "it begins where a turn begins"
        );
        assert!(page.to.is_multiple_of(6) && page.to + 1 >= cursor, "it ends where a turn ends");
        let older = page.view.transcript.parts.iter();
        let older = older.filter(|part| part.first.sequence < cursor);
        seen.splice(0..0, older.cloned().collect::<Vec<_>>());
        before = page.before;
        pages += 1;
    }
    assert!((3..=8).contains(&pages), "{pages}");
    assert!(whole.transcript.parts.iter().eq(seen.iter()), "pages and head are not the whole");
}
