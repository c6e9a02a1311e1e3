// What a reader of events writes; it must compile.
import type { Envelope, PayloadOf, RuntimeEvent, RuntimeEventType, ToolStarted } from "./events";

export function describe(event: RuntimeEvent): string {
  switch (event.type) {
    case "tool.started":
      // Narrowed: the payload is that of the type, and the ids its scope demands are there.
      return `${event.payload.toolName} in ${event.turnId}, call ${event.toolCallId}`;
    case "tool.failed":
      return event.payload.failureCategory + (event.payload.retryable === true ? ", try again" : "");
    case "model.completed":
      return event.payload.text ?? "";
    default:
      return event.type;
  }
}

export const counts: Partial<Record<RuntimeEventType, number>> = { "tool.started": 1 };

// Known words are completed, other words are allowed: the log keeps them.
export const started: PayloadOf<"tool.started"> = { toolName: "bash", toolKind: "command" };
export const foreign: ToolStarted = { toolName: "x", toolKind: "a kind of tomorrow" };

export const event: RuntimeEvent = {
  schemaVersion: "0.1",
  runtimeId: "rt_1",
  sessionId: "sess_1",
  threadId: "thread_1",
  turnId: "turn_1",
  stepId: "step_1",
  toolCallId: "call_1",
  eventId: "evt_1",
  sequence: 1,
  timestamp: "2026-06-01T00:00:00Z",
  type: "tool.started",
  payload: started,
  refs: [{ kind: "output", id: "blake3:00" }],
};

export const envelope: Envelope = event;
