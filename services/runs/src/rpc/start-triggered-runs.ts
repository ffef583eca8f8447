import { isId, isUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { isStorableText, parseJsonText } from "@workflow/json";
import type {
  StartTriggeredRunsRequest,
  StartTriggeredRunsResponse,
  StartTriggeredRunsResult,
  TriggeringEvent,
} from "@workflow/proto/runs/v1/triggers";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { recordedTraceparent } from "@workflow/tracing";
import type { Tracer } from "@workflow/tracing";
import type { ServiceContext } from "../context.ts";
import { pathTriggerKey, providerTriggerKey } from "../domain/trigger-key.ts";
import type { WebhookEvent } from "../triggers/webhook-event.ts";
import { toFailure } from "./failure-message.ts";

const EVENTS_MAX = 100;
const CALL_BYTES_MAX = 16 * 1024 * 1024;
/** The limit for the input of every run (D4). */
const INPUT_BYTES_MAX = 1024 * 1024;
const TRIGGER_BYTES_MAX = 256 * 1024;
const TEXT_CHARS_MAX = 255;

/** Starts the runs of workflows that wait for events from outside. */
export function startTriggeredRuns(
  context: ServiceContext,
): UnaryMethod<StartTriggeredRunsRequest, StartTriggeredRunsResponse> {
  return rpc({
    scopes: "internal:triggers",
    async handler({ events }, rpcContext) {
      if (events.length < 1 || events.length > EVENTS_MAX) {
        throw badRequest("events", `must have 1 to ${EVENTS_MAX} entries`);
      }
      const bytes = events.reduce((sum, event) => sum + bytesOf(event), 0);
      if (bytes > CALL_BYTES_MAX) {
        throw badRequest("events", `must have at most ${CALL_BYTES_MAX} bytes together`);
      }
      const results = events.map((event) => startSafely(context, event, rpcContext));
      return { results: await Promise.all(results) };
    },
  });
}

/** Never rejects: a refusal is the result of that event only. */
async function startSafely(
  { eventStarter, tracer }: ServiceContext,
  event: TriggeringEvent,
  rpcContext: RpcContext,
): Promise<StartTriggeredRunsResult> {
  try {
    const runs = await eventStarter.start(parseEvent(event, tracer));
    return { runs: [...runs], failure: undefined };
  } catch (error) {
    return { runs: [], failure: toFailure(error, rpcContext) };
  }
}

function bytesOf({ inputJson, triggerJson }: TriggeringEvent): number {
  return Buffer.byteLength(inputJson) + Buffer.byteLength(triggerJson);
}

function parseEvent(event: TriggeringEvent, tracer: Tracer | undefined): WebhookEvent {
  const { companyId, eventId, inputJson, triggerJson, requestId } = event;
  if (!isUuid(companyId)) throw badRequest("company_id", "must be a UUID");
  if (!isId("evt_", eventId)) throw badRequest("event_id", "must be the id of an event");
  parseJson("trigger_json", triggerJson, "object", TRIGGER_BYTES_MAX);
  return {
    // Lower case is the database's own spelling.
    companyId: companyId.toLowerCase(),
    id: eventId,
    triggerKey: parseSource(event.source),
    input: inputJson,
    inputValue: parseJson("input_json", inputJson, "any", INPUT_BYTES_MAX),
    triggerData: triggerJson,
    requestId: requestId === undefined ? null : parseText("request_id", requestId),
    traceparent: recordedTraceparent(tracer, event.traceparent),
  };
}

function parseSource(source: TriggeringEvent["source"]): string {
  switch (source?.$case) {
    case "path":
      return pathTriggerKey(parseText("path", source.value));
    case "provider":
      return providerTriggerKey(parseText("provider", source.value));
    case undefined:
      throw badRequest("source", "must be a path or a provider");
    default:
      return source satisfies never;
  }
}

function parseJson(field: string, text: string, kind: "object" | "any", bytesMax: number): unknown {
  if (Buffer.byteLength(text) > bytesMax) {
    throw badRequest(field, `must have at most ${bytesMax} bytes`);
  }
  const parsed = parseJsonText(text, kind);
  if (!parsed.ok) throw badRequest(field, parsed.message);
  return parsed.value;
}

function parseText(field: string, text: string): string {
  if (text.length >= 1 && text.length <= TEXT_CHARS_MAX && isStorableText(text)) return text;
  throw badRequest(field, `must be 1 to ${TEXT_CHARS_MAX} characters of well-formed text`);
}

function badRequest(field: string, message: string): AppError {
  return new AppError("BAD_REQUEST", `${field} ${message}.`, {
    violations: [{ path: [field], message }],
  });
}
