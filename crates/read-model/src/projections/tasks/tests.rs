//! Tests of the view of tasks and sub-agents.

use super::{AgentStatus, Tasks, Unplaced};
use crate::testing::{brief, view};

fn tasks(lines: &str) -> Tasks {
    view(lines).tasks
}

#[test]
fn tasks_attempts_jobs_and_messages() {
    insta::assert_snapshot!(brief(&tasks(
        r#"
        task.created    task=k1 {"label":"Build","objective":"make it build","kind":"build"}
        task.created    task=k2 parentTask=k1 {"label":"Compile","dependsOn":["k3"]}
        task.updated    task=k2 run=r1 {"status":"running","attempt":1}
        task.updated    task=k2 run=r1 {"status":"failed","error":"no memory"}
        task.updated    task=k2 run=r2 {"status":"running","attempt":2,"nativeStatus":"RETRY"}
        task.updated    task=k2 run=r2 {"status":"completed","summary":"compiled"}
        task.updated    task=k9 {"status":"running"}
        job.queued      {"jobId":"j1","title":"nightly","queue":"cron"}
        job.queued      {"jobId":"j1","title":"nightly","reason":"again"}
        channel.message {"channelId":"ch","from":"a","to":"b","text":"psst","kind":"peer"}
        "#
    )));
}

#[test]
fn the_block_of_sub_agents_is_there_for_a_solo_run() {
    let json = serde_json::to_value(tasks("turn.started turn=u1")).unwrap();
    let block = &json["subagents"];
    assert_eq!(block["hasSubagents"], false);
    for list in ["activeThreadIds", "completedThreadIds", "failedThreadIds"] {
        assert_eq!(block[list], serde_json::json!([]), "{list}");
    }
    for list in ["threads", "delegationCalls", "activities"] {
        assert_eq!(block[list]["items"], serde_json::json!([]), "{list}");
    }
}

// verifies: H40
#[test]
fn nested_agents_are_placed_by_their_own_ids() {
    let tasks = tasks(
        r#"
        tool.started       turn=u1 step=s1 tool=c1 {"toolName":"spawn"}
        subagent.started   subagent=A {"name":"A","parentToolCallId":"c1"}
        subagent.started   subagent=B {"name":"B","parentToolCallId":"c1"}
        model.delta        turn=u1 subagent=A {"delta":"a"}
        subagent.started   subagent=A1 {"name":"A1","parentSubagentId":"A"}
        model.delta        turn=u1 subagent=A1 {"delta":"a1"}
        model.delta        turn=u1 subagent=B {"delta":"b"}
        subagent.completed subagent=B {"summary":"b","usage":{"inputTokens":5}}
        subagent.failed    subagent=A1 {"failureCategory":"timeout"}
        subagent.completed subagent=A {"summary":"a"}
        subagent.completed subagent=A {"summary":"again"}
        "#,
    );
    let agents: Vec<_> = tasks
        .subagents
        .threads
        .iter()
        .map(|agent| {
            let name = agent.name.as_deref().unwrap();
            let parent = agent.parent_subagent_id.as_deref().unwrap_or("-");
            (name, parent, agent.status, agent.events, agent.summary.to_string())
        })
        .collect();
    assert_eq!(
        agents,
        [
            ("A", "-", AgentStatus::Completed, 4, "a".to_owned()),
            ("B", "-", AgentStatus::Completed, 3, "b".to_owned()),
            ("A1", "A", AgentStatus::Failed, 3, String::new()),
        ]
    );
    assert_eq!(tasks.subagents.unplaced().count(), 0);
    assert_eq!(tasks.subagents.delegation_calls.len(), 2);
    let edges: Vec<_> = tasks.edges.iter().map(|e| (e.from.as_str(), e.to.as_str())).collect();
    assert_eq!(edges, [("c1", "A"), ("c1", "B"), ("A", "A1")]);
}

// verifies: H40
#[test]
fn what_cannot_be_placed_is_unplaced_and_not_dropped() {
    let why = |lines: &str| -> Vec<Unplaced> {
        tasks(lines).subagents.unplaced().filter_map(|agent| agent.unplaced).collect()
    };
    let piece = r#"model.delta turn=u1 subagent=X {"delta":"x"}"#;
    assert_eq!(why(piece), [Unplaced::NeverStarted]);
    let orphan = r#"subagent.started subagent=Y {"parentSubagentId":"Z"}"#;
    assert_eq!(why(orphan), [Unplaced::UnknownParent]);
    // Both have their place once it is known.
    assert_eq!(why(&format!("{piece}\nsubagent.started subagent=X")), []);
    assert_eq!(why(&format!("{orphan}\nsubagent.started subagent=Z")), []);
}
