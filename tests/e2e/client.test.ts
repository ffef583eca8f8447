import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createClient,
  isApiError,
  RunFailedError,
  RunNotEndedError,
  verifyWebhook,
} from "@workflow/client";
import type { NewWorkflow, RunEvent, Step, WorkflowClient } from "@workflow/client";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;
let client: WorkflowClient;

beforeAll(async () => {
  receiver = await startHttpDouble();
  system = await startWholeSystem();
  client = createClient({ baseUrl: `${system.origin}/api/v1`, apiKey: system.acme.key });
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

const GREETING: Step = {
  id: "hello",
  type: "transform",
  name: "Say hello",
  config: { mapping: { text: "Hello {{input.name}}" } },
};

function sleep(durationMs: number): Step {
  return { id: "sleep", type: "delay", name: "Sleep", config: { durationMs } };
}

const APPROVAL: Step = {
  id: "ask",
  type: "approval",
  name: "Ask somebody",
  config: { message: "Is it fine?" },
};

const FAILING: Step = {
  id: "fail",
  type: "transform",
  name: "Fail",
  config: { expression: "$error('Never.')" },
};

async function activate(steps: Step[], fields: Partial<NewWorkflow> = {}): Promise<string> {
  const body = { name: "Of the client", trigger: { type: "api" as const }, steps, ...fields };
  const { id } = await client.workflows.create(body);
  await client.workflows.activate(id);
  return id;
}

async function eventsOf(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe("a workflow", () => {
  it("is made, changed for the state that the caller knows, and archived", async () => {
    const { id } = await client.workflows.create({
      name: "Draft",
      trigger: { type: "api" },
      steps: [GREETING],
    });
    let etag = "";
    await client.workflows.get(id, {
      onResponse: ({ headers }) => {
        etag = headers.get("etag") ?? "";
      },
    });
    await client.workflows.update(id, { name: "Changed" }, { ifMatch: etag });
    const late = client.workflows.update(id, { name: "Late" }, { ifMatch: etag });
    await expect(late).rejects.toMatchObject({ code: "PRECONDITION_FAILED", status: 412 });
    await expect(client.workflows.delete(id)).resolves.toEqual({ deleted: true });
    await expect(client.workflows.get(id)).resolves.toMatchObject({
      name: "Changed",
      status: "archived",
    });
  });

  it("that is wrong is refused with the fields", async () => {
    const creating = client.workflows.create({ name: "", trigger: { type: "api" }, steps: [] });
    const failure: unknown = await creating.catch((error: unknown) => error);
    expect(isApiError(failure) && failure.problems).toContainEqual({
      path: ["name"],
      message: expect.any(String),
    });
  });
});

describe("runAndWait", () => {
  it("gives the whole run", async () => {
    const id = await activate([GREETING]);
    const run = await client.workflows.runAndWait(id, { input: { name: "Ada" } });
    expect(run).toMatchObject({
      status: "completed",
      output: { text: "Hello Ada" },
      stepResults: [{ stepId: "hello", status: "success" }],
    });
  });

  it("starts one run, however often it is called with one key", async () => {
    const id = await activate([GREETING]);
    const calls = Array.from({ length: 5 }, () =>
      client.workflows.runAndWait(id, {}, { idempotencyKey: `once-${id}` }),
    );
    const runs = await Promise.all(calls);
    expect(new Set(runs.map((run) => run.id)).size).toBe(1);
    await expect(client.runs.list({ workflowId: id }).all()).resolves.toHaveLength(1);
  });

  it("throws the run that failed", async () => {
    const id = await activate([FAILING]);
    const failure: unknown = await client.workflows.runAndWait(id).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RunFailedError);
    expect(failure).toMatchObject({
      run: { status: "failed", error: { code: expect.any(String) } },
    });
  });

  it("gives up after waitMs and leaves the run alone, which can be waited for again", async () => {
    const id = await activate([APPROVAL, GREETING]);
    const waiting = client.workflows.runAndWait(id, { input: { name: "Ada" } }, { waitMs: 500 });
    const failure: unknown = await waiting.catch((error: unknown) => error);
    if (!(failure instanceof RunNotEndedError)) throw failure;
    const { runId } = failure;
    const ended = client.runs.wait(runId);
    const approvals = await waitFor(async () => {
      const all = await client.approvals.listOfRun(runId).all();
      return all.length > 0 && all;
    });
    await client.approvals.decide(runId, approvals[0]?.id ?? "", { decision: "approved" });
    await expect(ended).resolves.toMatchObject({ output: { text: "Hello Ada" } });
  });

  it("ends with the caller's signal", async () => {
    const id = await activate([sleep(600_000)]);
    const controller = new AbortController();
    const waiting = client.workflows.runAndWait(id, {}, { signal: controller.signal });
    const [run] = await waitFor(async () => {
      const all = await client.runs.list({ workflowId: id }).all();
      return all.length > 0 && all;
    });
    controller.abort(new Error("Enough."));
    await expect(waiting).rejects.toThrow("Enough.");
    await client.runs.cancel(run?.id ?? "");
  });
});

describe("a start", () => {
  it("in sync mode answers with the output", async () => {
    const id = await activate([GREETING]);
    const started = await client.workflows.run(id, { mode: "sync", input: { name: "Ada" } });
    expect(started).toMatchObject({ status: "completed", output: { text: "Hello Ada" } });
  });

  it("of a workflow that is not active says so", async () => {
    const { id } = await client.workflows.create({
      name: "Draft",
      trigger: { type: "api" },
      steps: [GREETING],
    });
    const failure: unknown = await client.workflows.run(id).catch((error: unknown) => error);
    if (!isApiError(failure, "WORKFLOW_NOT_ACTIVE")) throw failure;
    expect(failure.details.currentStatus).toBe("draft");
  });
});

describe("the events of a run", () => {
  it("tell every step and the end, once each", async () => {
    const id = await activate([GREETING, sleep(300)]);
    const { runId } = await client.workflows.run(id, { input: { name: "Ada" } });
    const events = await eventsOf(client.runs.events(runId));
    const steps = events.flatMap((event) => (event.type === "step" ? [event.data.stepId] : []));
    expect(steps).toEqual(["hello", "sleep"]);
    expect(events.at(-1)).toMatchObject({ type: "run", data: { status: "completed" } });
    expect(new Set(events.map(({ id: position }) => position)).size).toBe(events.length);
  });

  it("go on behind any of them, also of a run that has ended", async () => {
    const id = await activate([GREETING, sleep(10)]);
    const { id: runId } = await client.workflows.runAndWait(id, { input: { name: "Ada" } });
    const all = await eventsOf(client.runs.events(runId));
    for (const [index, { id: after }] of all.entries()) {
      await expect(eventsOf(client.runs.events(runId, { after }))).resolves.toEqual(
        all.slice(index + 1),
      );
    }
  });

  it("survive a gateway that goes away, by way of the one that takes its place", async () => {
    const id = await activate([GREETING, APPROVAL]);
    const first = await system.startGateway();
    const second = await system.startGateway();
    let origin = first.origin;
    // What a load balancer does.
    const roaming = createClient({
      baseUrl: `${first.origin}/api/v1`,
      apiKey: system.acme.key,
      fetch: (url, init) => fetch(url.href.replace(first.origin, origin), init),
    });
    const { runId } = await roaming.workflows.run(id, { input: { name: "Ada" } });
    const events: RunEvent[] = [];
    let stopped: Promise<void> | undefined;
    for await (const event of roaming.runs.events(runId)) {
      events.push(event);
      const isWaiting = event.type === "run" && event.data.status === "waiting_approval";
      if (!isWaiting || origin === second.origin) continue;
      origin = second.origin;
      stopped = first.stop();
      await client.runs.cancel(runId);
    }
    await stopped;
    expect(events.at(-1)).toMatchObject({ type: "run", data: { status: "cancelled" } });
    expect(new Set(events.map(({ id: position }) => position)).size).toBe(events.length);
  });

  it("of another company's run are not found", async () => {
    const { runId } = await client.workflows.run(await activate([GREETING]));
    const foreign = createClient({
      baseUrl: `${system.origin}/api/v1`,
      apiKey: system.globex.key,
    });
    await expect(eventsOf(foreign.runs.events(runId))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("lists", () => {
  it("are read over all of their pages", async () => {
    const names = Array.from({ length: 7 }, (_, n) => `Listed ${n}`);
    for (const name of names) {
      await client.workflows.create({ name, trigger: { type: "api" }, steps: [GREETING] });
    }
    const found = await client.workflows.list({ search: "Listed", limit: 3 }).all();
    expect(found.map(({ name }) => name)).toEqual(names.toReversed());
  });

  it("of rows, by offsets, and as a file", async () => {
    const table = await client.tables.create({
      name: "Numbers",
      columns: [{ id: "n", name: "n", type: "number" }],
    });
    const numbers = Array.from({ length: 25 }, (_, n) => n);
    await client.rows.batch(table.id, { insert: numbers.map((n) => ({ data: { n } })) });
    const query = { limit: 10, sort: "n" };
    const rows = await client.rows.query(table.id, query).all();
    expect(rows.map(({ data }) => data["n"])).toEqual(numbers);
    const { meta } = await client.rows.query(table.id, query);
    expect(meta).toEqual({ total: 25, limit: 10, offset: 0, hasMore: true });
    const file = await client.rows.export(table.id, { format: "csv" });
    expect((await new Response(file).text()).trim().split(/\r?\n/)).toHaveLength(26);
  });

  it("of versions", async () => {
    const id = await activate([GREETING]);
    await client.workflows.update(id, { name: "Second" });
    const versions = await client.versions.list(id, { limit: 1 }).all();
    expect(versions.map(({ version }) => version)).toEqual([2, 1]);
  });
});

it("a delivery of the service is verified, by both of its signatures, through a change of the secret", async () => {
  const endpoint = await client.webhookEndpoints.create({
    name: "Receiver",
    url: `${receiver.url}/hook`,
  });
  await client.webhookEndpoints.test(endpoint.id, { eventType: "workflow.failed" });
  const { secret } = await client.webhookEndpoints.rotateSecret(endpoint.id, {
    overlapSeconds: 60,
  });
  await client.webhookEndpoints.test(endpoint.id, { eventType: "workflow.completed" });
  const [before, after] = receiver.requests;
  if (before === undefined || after === undefined) throw new Error("Two deliveries were sent.");
  const failed = await verifyWebhook(before.bodyBytes, before.headers, endpoint.secret);
  expect(failed).toMatchObject({ type: "workflow.failed", test: true });
  const { "x-webhook-signature": _, ...standard } = after.headers;
  for (const headers of [after.headers, standard]) {
    for (const known of [secret, endpoint.secret, [endpoint.secret, secret]]) {
      await expect(verifyWebhook(after.body, headers, known)).resolves.toMatchObject({
        type: "workflow.completed",
      });
    }
    const changed = verifyWebhook(`${after.body} `, headers, secret);
    await expect(changed).rejects.toMatchObject({ reason: "signature" });
  }
});
