import { expect } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../../support/api-client.ts";
import { until2xx } from "./repeat.ts";

const PAUSE_MS = 3_000;

/** A request to the system under test, by the path below `/api/v1`. */
type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** The id in an answer. */
export const idOf = ({ data }: Answer): string => z.object({ id: z.string() }).parse(data).id;

/** Creates a workflow of `helloSteps`, or of other steps; returns its id. */
export async function create(
  call: Call,
  receiver: HttpDouble,
  trigger: object,
  steps: readonly object[] = helloSteps(receiver),
): Promise<string> {
  const body = { name: "Restored", trigger, steps };
  const created = await call("POST", "/workflows", body);
  expect(created).toMatchObject({ status: 201 });
  return idOf(created);
}

/** Activates a workflow, however often that needs to be tried. */
export async function activate(call: Call, id: string): Promise<void> {
  await until2xx(() => call("POST", `/workflows/${id}/activate`));
}

/** Steps that show the secret TOKEN to the receiver, wait, and greet the name of the input. */
function helloSteps(receiver: HttpDouble) {
  const step = (id: string, type: string, config: object) => ({ id, type, name: id, config });
  const headers = { "x-token": "{{secrets.TOKEN}}" };
  const config = { method: "POST", url: `${receiver.url}/step`, headers };
  return [
    { ...step("show", "action", config), action: "http.request" },
    step("pause", "delay", { durationMs: PAUSE_MS }),
    step("hello", "transform", { mapping: { text: "Hello {{input.name}}" } }),
  ];
}

/** Starts a run for Ada; returns its id. */
export async function startRun(call: Call, id: string): Promise<string> {
  const answer = await call("POST", `/workflows/${id}/run`, { input: { name: "Ada" } });
  expect(answer.status).toBe(202);
  return z.object({ run_id: z.string() }).parse(answer.data).run_id;
}

/** Waits until a run has ended, and returns it. */
export function endOf(call: Call, runId: string) {
  return waitFor(
    async () => {
      const { status, data } = await call("GET", `/runs/${runId}`);
      expect(status).toBe(200);
      const run = z.looseObject({ completedAt: z.string().nullable() }).parse(data);
      return run.completedAt === null ? null : run;
    },
    { timeoutMs: 90_000, what: `run ${runId} to end` },
  );
}

const delivered = z.object({
  id: z.string(),
  runId: z.string(),
  input: z.unknown(),
});

/** The deliveries of ended runs that the receiver got. */
export function deliveries(receiver: HttpDouble) {
  return receiver.requests
    .filter(({ path }) => path === "/events")
    .map(({ body }) => {
      const { id, runId, input } = delivered.parse(JSON.parse(body));
      return { id, runId, hasInput: input !== null };
    });
}
