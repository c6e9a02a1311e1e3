//! Tells sessions for tests: events with scopes, times, salts and a real chain, without a log.

use event_spine::event::EventPayload;
use event_spine::event::family::artifact::ArtifactChanged;
use event_spine::event::family::evidence::{EvidenceChanged, ReviewVerdict};
use event_spine::event::family::lifecycle::*;
use event_spine::event::family::message::*;
use event_spine::event::family::policy::*;
use event_spine::event::family::task::*;
use event_spine::event::family::tool::*;
use event_spine::event::value::*;
use event_spine::integrity::leaf;
use event_spine::*;

use crate::projections::graph::ExecutionGraph;

/// A session being told.
pub(crate) struct Story {
    pub(crate) events: Vec<RecordedEvent>,
    pub(crate) scope: Scope,
    session: SessionId,
    chain: ChainHash,
    now: i64,
}

impl Story {
    pub(crate) fn new(name: &str) -> Self {
        let session = SessionId::parse(format!("sess_{name}")).unwrap();
        Self {
            events: Vec::new(),
            scope: Scope {
                thread_id: Some(ThreadId::parse("thread_main").unwrap()),
                ..Scope::default()
            },
            chain: ChainHash::genesis(&session),
            session,
            now: 1_790_000_000_000_000,
        }
    }

    pub(crate) fn wait(&mut self, ms: i64) -> &mut Self {
        self.now += ms * 1000;
        self
    }

    pub(crate) fn say<P: EventPayload>(&mut self, payload: P) -> &mut Self {
        let scope = self.scope.clone();
        self.say_in(scope, payload)
    }

    pub(crate) fn say_in<P: EventPayload>(&mut self, scope: Scope, payload: P) -> &mut Self {
        let sequence = self.events.len() as u64 + 1;
        let event_id = EventId::parse(format!("evt_{sequence}")).unwrap();
        let timestamp = Timestamp::from(RecordedAt(self.now));
        let runtime = RuntimeId::parse("rt_test").unwrap();
        let draft = EventDraft::new(runtime, event_id, timestamp, scope, &payload).unwrap();
        self.record(draft)
    }

    pub(crate) fn record(&mut self, draft: EventDraft) -> &mut Self {
        let sequence = self.events.len() as u64 + 1;
        let recorded_at = RecordedAt(self.now + 500);
        let mut salt = [0; 16];
        salt[..8].copy_from_slice(&sequence.to_le_bytes());
        self.chain = self.chain.next(&leaf(&self.session, sequence, recorded_at, &salt, &draft));
        let session_id = self.session.clone();
        self.events.push(RecordedEvent {
            session_id,
            sequence,
            recorded_at,
            salt,
            chain: self.chain,
            draft,
        });
        self.now += 1_000;
        self
    }

    pub(crate) fn turn(&mut self, id: &str, text: &str) -> &mut Self {
        self.scope.turn_id = Some(TurnId::parse(id).unwrap());
        self.scope.step_id = None;
        let (role, parts, source, input_ref) = (None, Vec::new(), None, None);
        self.say(TurnSubmitted { role, text: Some(text.into()), parts, source, input_ref });
        self.wait(40).say(TurnStarted { model: None, provider: None, cwd: None, title: None })
    }

    pub(crate) fn done(&mut self) -> &mut Self {
        let (reason, detail, terminal_status) = (Some("accepted".into()), None, None);
        self.say(TurnCompleted { reason, detail, terminal_status, duration_ms: None, usage: None })
    }

    pub(crate) fn fail(&mut self, category: &str, error: &str) -> &mut Self {
        let (reason, detail, terminal_status, recovery, usage) = (None, None, None, None, None);
        let (failure_category, error) = (category.into(), Some(error.into()));
        self.say(TurnFailed {
            failure_category,
            error,
            reason,
            detail,
            terminal_status,
            recovery,
            usage,
        })
    }

    pub(crate) fn step(&mut self, id: &str) -> &mut Self {
        self.scope.step_id = Some(StepId::parse(id).unwrap());
        self
    }

    pub(crate) fn agent(&mut self, id: Option<&str>) -> &mut Self {
        self.scope.subagent_id = id.map(|id| SubagentId::parse(id).unwrap());
        self.scope.step_id = None;
        self
    }

    pub(crate) fn with(&self, wire: &str, id: &str) -> Scope {
        let mut scope = self.scope.clone();
        scope.set(wire, id).unwrap();
        scope
    }

    /// A model call that takes `ms`, says `text` and uses tokens.
    pub(crate) fn model(
        &mut self,
        id: &str,
        ms: i64,
        text: &str,
        tokens: Option<(u64, u64)>,
    ) -> &mut Self {
        self.ask(id).wait(ms);
        self.model_done(id, text, tokens, false)
    }

    pub(crate) fn answer(
        &mut self,
        id: &str,
        ms: i64,
        text: &str,
        tokens: Option<(u64, u64)>,
    ) -> &mut Self {
        self.ask(id).wait(ms);
        self.model_done(id, text, tokens, true)
    }

    pub(crate) fn ask(&mut self, id: &str) -> &mut Self {
        let scope = self.with("messageId", id);
        self.say_in(
            scope,
            ModelRequested {
                provider: Some("openai".into()),
                model: Some("gpt-5.2".into()),
                request_hash: None,
                attempt_seq: None,
                round: None,
                estimated_input_tokens: None,
            },
        )
    }

    pub(crate) fn delta(&mut self, id: &str, delta: &str) -> &mut Self {
        let scope = self.with("messageId", id);
        self.say_in(scope, ModelDelta { delta: delta.into(), role: None })
    }

    pub(crate) fn model_done(
        &mut self,
        id: &str,
        text: &str,
        tokens: Option<(u64, u64)>,
        is_final: bool,
    ) -> &mut Self {
        let scope = self.with("messageId", id);
        let usage = tokens.map(|(input, output)| Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            ..Usage::default()
        });
        self.say_in(
            scope,
            ModelCompleted {
                text: (!text.is_empty()).then(|| text.into()),
                mode: None,
                role: None,
                is_final,
                finish_reason: None,
                usage,
                model: None,
                parts: Vec::new(),
            },
        )
    }

    pub(crate) fn call(&mut self, id: &str, name: &str, args: &str) -> &mut Self {
        let scope = self.with("toolCallId", id);
        self.say_in(
            scope,
            ToolStarted {
                tool_name: name.into(),
                tool_kind: None,
                title: None,
                args: Some(JsonText::parse(args).unwrap().0),
                args_ref: None,
                safety: None,
                native_tool_call_id: None,
                cwd: None,
            },
        )
    }

    pub(crate) fn result(&mut self, id: &str, preview: &str) -> &mut Self {
        self.result_as(id, Some(ToolStatus::Succeeded), preview)
    }

    pub(crate) fn result_as(
        &mut self,
        id: &str,
        status: Option<ToolStatus>,
        preview: &str,
    ) -> &mut Self {
        let scope = self.with("toolCallId", id);
        self.say_in(
            scope,
            ToolResult {
                status,
                output: None,
                preview: Some(preview.into()),
                output_ref: None,
                truncated: false,
                exit_code: None,
                duration_ms: None,
                metadata: None,
                tool_name: None,
            },
        )
    }

    pub(crate) fn failed(&mut self, id: &str, category: &str, error: &str) -> &mut Self {
        let scope = self.with("toolCallId", id);
        self.say_in(
            scope,
            ToolFailed {
                failure_category: category.into(),
                error: Some(error.into()),
                status: None,
                output: None,
                preview: None,
                output_ref: None,
                truncated: false,
                exit_code: None,
                duration_ms: None,
                retryable: None,
                recovery: None,
                tool_name: None,
                metadata: None,
            },
        )
    }

    pub(crate) fn required(
        &mut self,
        action: &str,
        call: &str,
        tool: &str,
        args: &str,
    ) -> &mut Self {
        let mut scope = self.with("toolCallId", call);
        scope.set("actionId", action).unwrap();
        self.say_in(
            scope,
            ActionRequired {
                action_type: "tool_permission".into(),
                title: Some(format!("Allow {tool}?")),
                reason: None,
                tool_name: Some(tool.into()),
                arguments: Some(JsonText::parse(args).unwrap().0),
                arguments_hash: None,
                risk: None,
                choices: Vec::new(),
                response_schema: None,
                expires_at: None,
                rule_id: None,
            },
        )
    }

    pub(crate) fn resolved(&mut self, action: &str, decision: &str, by: &str) -> &mut Self {
        let scope = self.with("actionId", action);
        self.say_in(
            scope,
            ActionResolved {
                decision: decision.into(),
                resolved_as: None,
                source: Some("human".into()),
                decided_by: Some(by.into()),
                remember_scope: None,
                response: None,
                edited_arguments: None,
                reason: None,
            },
        )
    }

    pub(crate) fn artifact(&mut self, id: &str, call: &str, title: &str) -> &mut Self {
        let mut scope = self.with("artifactId", id);
        scope.set("toolCallId", call).unwrap();
        self.say_in(
            scope,
            ArtifactChanged {
                change: ArtifactChange::Updated,
                kind: Some("file".into()),
                title: Some(title.into()),
                path: None,
                version_id: None,
                media_type: None,
                size_bytes: None,
                preview: None,
                read_ref: None,
                diff: None,
            },
        )
    }

    pub(crate) fn evidence(
        &mut self,
        id: &str,
        call: &str,
        title: &str,
        status: EvidenceStatus,
    ) -> &mut Self {
        let mut scope = self.with("evidenceId", id);
        scope.set("toolCallId", call).unwrap();
        self.say_in(
            scope,
            EvidenceChanged {
                kind: Some("verification".into()),
                title: Some(title.into()),
                status: Some(status),
                location: None,
                summary: None,
                claim: None,
            },
        )
    }

    pub(crate) fn verdict(&mut self, id: &str, verdict: Verdict, reviewer: &str) -> &mut Self {
        let scope = self.with("evidenceId", id);
        self.say_in(
            scope,
            ReviewVerdict {
                verdict,
                reviewer: Some(reviewer.into()),
                target: None,
                reason: None,
                fixes: Vec::new(),
            },
        )
    }

    pub(crate) fn spawn(
        &mut self,
        id: &str,
        name: &str,
        call: Option<&str>,
        parent: Option<&str>,
    ) -> &mut Self {
        self.start_agent(id, name, call, parent, false)
    }

    pub(crate) fn start_agent(
        &mut self,
        id: &str,
        name: &str,
        call: Option<&str>,
        parent: Option<&str>,
        handoff: bool,
    ) -> &mut Self {
        let scope = self.with("subagentId", id);
        self.say_in(
            scope,
            SubagentStarted {
                name: Some(name.into()),
                role: None,
                objective: Some(format!("do the part of {name}")),
                parent_subagent_id: parent.map(Into::into),
                parent_tool_call_id: call.map(Into::into),
                child_thread_id: None,
                handoff,
                model: None,
            },
        )
    }

    pub(crate) fn agent_done(&mut self, id: &str, tokens: Option<(u64, u64)>) -> &mut Self {
        let scope = self.with("subagentId", id);
        let usage = tokens.map(|(input, output)| Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            ..Usage::default()
        });
        self.say_in(
            scope,
            SubagentCompleted {
                summary: Some("done".into()),
                output: None,
                output_ref: None,
                usage,
            },
        )
    }

    pub(crate) fn graph(&self) -> ExecutionGraph {
        let mut graph = ExecutionGraph::default();
        for event in &self.events {
            graph.apply(event, &event.event());
        }
        graph
    }
}
