// What must not compile: a line below is an error of its own as soon as the compiler accepts it.
import type { RuntimeEvent, RuntimeEventType, ToolStarted } from "./events";

// @ts-expect-error There is no such type.
export const unknownType: RuntimeEventType = "tool.reconsidered";

// @ts-expect-error A required member is missing.
export const incomplete: ToolStarted = { toolKind: "command" };

// @ts-expect-error A member has the wrong type.
export const wrong: ToolStarted = { toolName: 7 };

export function read(event: RuntimeEvent): string | undefined {
  if (event.type === "turn.submitted") {
    // @ts-expect-error The payload of another type.
    return event.payload.toolName;
  }
  // @ts-expect-error Not narrowed yet: only some payloads have it.
  return event.payload.failureCategory;
}

// @ts-expect-error A tool event without the ids that its scope demands.
export const unplaced: RuntimeEvent = {
  schemaVersion: "0.1",
  runtimeId: "rt_1",
  sessionId: "sess_1",
  eventId: "evt_1",
  timestamp: "2026-06-01T00:00:00Z",
  type: "tool.started",
  payload: { toolName: "bash" },
};
