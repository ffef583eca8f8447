import { AppError, isAppError } from "@workflow/errors";
import type { WatchRunResponse } from "@workflow/proto/runs/v1/runs";
import { z } from "zod";
import type { RawJson } from "../../http/write-json.ts";
import { rawOrNull } from "../../http/write-json.ts";
import type { ServerEvent } from "../../reply.ts";
import { NO_BODY, route } from "../../route.ts";
import { runListItemJson, stepResultJson } from "./run-json.ts";
import { runUpdateSchema, stepResultSchema } from "./run-schema.ts";

/** The stream ends after this time, and clients reconnect by themselves. */
const STREAM_MS = 3_600_000;

export const watchRun = route({
  method: "GET",
  path: "/runs/{id}/events",
  scope: "runs:read",
  bucket: "read",
  summary: "Follow a run until it has ended",
  description: [
    "The answer is a stream of server-sent events: `step` for each step result, `run` for each change of the run.",
    "What is known already comes first, and the stream ends with the run, after an hour at the latest.",
    "`Last-Event-ID`, or `after`, goes on behind an event; 204 says that there is nothing more to tell.",
    "Too many watchers of one company are RATE_LIMITED with `details.limit` `watchers`.",
  ],
  params: { id: "The run's id." },
  query: z.object({
    after: z
      .string()
      .optional()
      .describe("The id of the last event that is known already; Last-Event-ID goes before it."),
  }),
  body: NO_BODY,
  requestHeaders: ["Last-Event-ID"],
  contentTypes: ["text/event-stream"],
  responses: {
    200: {
      description:
        "What is known already, then each change. `Last-Event-ID`, or `after`, goes on after an event.",
      data: z.union([runUpdateSchema, stepResultSchema]),
    },
    204: { description: "The run has ended and everything was told before.", data: z.undefined() },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ runs, call, headers }, { params, query }) => {
    const last = headers["last-event-id"];
    const isOfHeader = typeof last === "string" && last !== "";
    const after = isOfHeader ? last : query.after;
    const updates = runs.watchRun({ runId: params.id, after }, { ...call, timeoutMs: STREAM_MS });
    return { events: toEvents(isOfHeader ? namingHeader(updates) : updates) };
  },
});

/** The same updates. A refusal of the position names the header from which it came. */
async function* namingHeader(
  updates: AsyncIterable<WatchRunResponse>,
): AsyncGenerator<WatchRunResponse> {
  try {
    yield* updates;
  } catch (error) {
    const [violation] = isAppError(error) ? error.violations : [];
    if (violation?.path[0] !== "after") throw error;
    const { message } = violation;
    throw new AppError("BAD_REQUEST", `Last-Event-ID ${message}.`, {
      violations: [{ path: ["Last-Event-ID"], message }],
      cause: error,
    });
  }
}

async function* toEvents(
  updates: AsyncIterable<WatchRunResponse>,
): AsyncGenerator<ServerEvent | null> {
  for await (const { update, position: id } of updates) {
    if (update === undefined) yield null;
    else if (update.$case === "step") {
      yield { event: "step", id, data: stepResultJson(update.value) };
    } else {
      const output: { output?: RawJson | null } =
        update.value.outputJson === undefined ? {} : { output: rawOrNull(update.value.outputJson) };
      yield { event: "run", id, data: { ...runListItemJson(update.value), ...output } };
    }
  }
}
