import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { idTimestamp, newId, newUuid, sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { logEvents } from "@workflow/testkit";
import { z } from "zod";
import {
  delay,
  expression,
  mapping,
  startRunsHarness,
  testIdentity,
  WEBHOOKS_SERVICE,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let companyId: string;

beforeAll(async () => {
  harness = await startRunsHarness();
  companyId = harness.identity.companyId;
  await logEvents(harness.database);
});
afterAll(() => harness.close());

const KIB = 1024;
const BYTES_MAX = 256 * KIB;
const as = { identity: WEBHOOKS_SERVICE };

const envelope = z.looseObject({
  id: z.string(),
  type: z.string(),
  timestamp: z.string(),
  data: z.looseObject({ runId: z.string() }),
});

/** What was written into the outbox about a run, as it was. */
const writtenFor = (runId: string) =>
  harness.database.anyFirst(sql.type(z.object({ payload: z.string() }))`
    select payload::text as payload from runs.event_log
    where payload -> 'data' ->> 'runId' = ${runId} and type <> 'workflow.checkpoint'
    order by seq
  `);

interface Window {
  companyIds?: string[];
  endedFrom?: Date;
  endedBefore?: Date;
  pageSize?: number;
  pageToken?: string;
}

function listRequest(window: Window) {
  return {
    companyIds: [companyId],
    endedFrom: new Date(Date.now() - 60_000),
    endedBefore: new Date(Date.now() + 60_000),
    pageSize: 1_000,
    pageToken: "",
    ...window,
  };
}

async function listAll(window: Window = {}): Promise<{ events: string[]; pages: number }> {
  const request = listRequest(window);
  const events: string[] = [];
  let pages = 0;
  for (;;) {
    const page = await harness.runEvents.listEndEvents(request, as);
    events.push(...page.eventsJson);
    pages += 1;
    if (page.nextPageToken === "") return { events, pages };
    request.pageToken = page.nextPageToken;
  }
}

const madeAnewFor = async (runId: string): Promise<string[]> =>
  (await listAll()).events.filter((text) => envelope.parse(JSON.parse(text)).data.runId === runId);

describe("the events of a run that has ended, made anew", () => {
  it.each<[string, () => readonly unknown[], object]>([
    ["completed", () => [mapping("a", 1)], {}],
    ["failed", () => [expression("bad", '$error("no \\u0000 \\ud800")')], {}],
    ["timed out", () => [delay("a", 3_000)], { settings: { timeoutMs: 50 } }],
    ["completed after a checkpoint", () => [mapping("a", 1, { checkpoint: true })], {}],
  ])("are those that were published, byte by byte: %s", async (_kind, steps, more) => {
    const workflowId = await harness.deploy(steps(), { name: 'A "name" of ümlauts', ...more });
    const run = await harness.runToEnd(workflowId);
    const written = await writtenFor(run.id);
    expect(written).toHaveLength(2);
    expect(await madeAnewFor(run.id)).toEqual(written);
  });

  it("have ids and timestamps of the moments that they tell of", async () => {
    const { id, startedAt, completedAt } = await harness.runToEnd(
      await harness.deploy([mapping("a", 1)]),
    );
    const events = (await madeAnewFor(id)).map((text) => envelope.parse(JSON.parse(text)));
    expect(events.map(({ timestamp }) => new Date(timestamp))).toEqual([startedAt, completedAt]);
    expect(events.map((event) => idTimestamp(event.id))).toEqual([startedAt, completedAt]);
  });

  it("lack nothing but the request when somebody has cancelled it", async () => {
    const workflowId = await harness.deploy([delay("a", 120_000)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    await harness.runs.cancelRun({ runId }, { identity: harness.identity, requestId: "by-me" });
    const [started, cancelled] = await writtenFor(runId);
    const request = '"requestId":"by-me",';
    expect(cancelled).toContain(request);
    expect(await madeAnewFor(runId)).toEqual([started, cancelled?.replace(request, "")]);
  });

  it("leave out the beginning of a run that was cancelled before it began", async () => {
    const settings = { concurrency: { limit: 1, onLimit: "skip" } };
    const workflowId = await harness.deploy([delay("a", 120_000)], { settings });
    await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    const skipped = await harness.runToEnd(workflowId);
    const written = await writtenFor(skipped.id);
    expect(written.map((text) => envelope.parse(JSON.parse(text)))).toMatchObject([
      { type: "workflow.cancelled", data: { startedAt: null, durationMs: null } },
    ]);
    expect(await madeAnewFor(skipped.id)).toEqual(written);
  });
});

describe("listing them", () => {
  it("goes through pages in the order of the ends, each run in one page, whoever the companies are", async () => {
    const other = testIdentity();
    const mine = await harness.deploy([mapping("a", 1)]);
    const theirs = await harness.deploy([mapping("a", 1)], { identity: other });
    const endedFrom = new Date();
    const runIds: string[] = [];
    for (let n = 0; n < 5; n += 1) runIds.push((await harness.runToEnd(mine)).id);
    const { run } = await harness.runs.startRun(
      {
        workflowId: theirs,
        inputJson: undefined,
        connectionId: undefined,
        idempotencyKey: undefined,
        triggerType: 0,
        waitMs: 10_000,
        requestId: undefined,
      },
      { identity: other },
    );
    const window = { endedFrom, companyIds: [companyId, other.companyId], pageSize: 5 };
    const { events, pages } = await listAll(window);
    const told = events.map((text) => envelope.parse(JSON.parse(text)).data.runId);
    expect(told).toEqual([...runIds, run?.id].flatMap((runId) => [runId, runId]));
    expect(pages).toBe(3);
    const others = await listAll({ ...window, companyIds: [newUuid()] });
    expect(others.events).toEqual([]);
    const none = await listAll({ ...window, companyIds: [] });
    expect(none.events).toEqual([]);
  });

  it("takes the beginning of the time and leaves out its end", async () => {
    const { id, completedAt: end = new Date(0) } = await harness.runToEnd(
      await harness.deploy([mapping("a", 1)]),
    );
    const later = new Date(end.getTime() + 1);
    const has = async (window: Window): Promise<boolean> =>
      (await listAll(window)).events.some((text) => text.includes(id));
    expect(await has({ endedFrom: end, endedBefore: later })).toBe(true);
    expect(await has({ endedFrom: later })).toBe(false);
    expect(await has({ endedBefore: end })).toBe(false);
  });

  it.each<[string, Window]>([
    ["company_ids", { companyIds: ["x"] }],
    ["company_ids", { companyIds: Array.from({ length: 1_001 }, () => newUuid()) }],
    ["ended_from", { endedFrom: new Date(8.64e15) }],
    ["page_size", { pageSize: 1 }],
    ["page_size", { pageSize: 1_001 }],
    ["cursor", { pageToken: "forged" }],
  ])("refuses a bad %s", async (field, window) => {
    const call = harness.runEvents.listEndEvents(listRequest(window), as);
    await expect(call).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: [field] }],
    });
  });

  it("is for the webhooks service alone", async () => {
    const identity = { ...WEBHOOKS_SERVICE, scopes: [] };
    const calls = [
      () => harness.runEvents.listEndEvents(listRequest({}), { identity }),
      () => harness.runEvents.readRunPayloads({ runs: [], bytesMax: 1 }, { identity }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ reason: "FORBIDDEN" });
  });
});

describe("the payloads of runs", () => {
  const read = async (runs: { companyId: string; runId: string }[], bytesMax = BYTES_MAX) =>
    (await harness.runEvents.readRunPayloads({ runs, bytesMax }, as)).payloads;

  it("come in the order asked for; those of others and of nobody are not found", async () => {
    const workflowId = await harness.deploy([mapping("a", "{{input}}")]);
    const first = await harness.runToEnd(workflowId, { n: 1 });
    const second = await harness.runToEnd(workflowId, { n: 2 });
    const waiting = await harness.start(await harness.deploy([delay("a", 60_000)]), { n: 3 });
    const none = { found: false, inputJson: "", outputJson: "" };
    expect(
      await read([
        { companyId, runId: second.id },
        { companyId: newUuid(), runId: first.id },
        { companyId, runId: newId("run_") },
        { companyId: "x", runId: "y" },
        { companyId: companyId.toUpperCase(), runId: first.id },
        { companyId, runId: waiting },
        { companyId, runId: second.id },
      ]),
    ).toMatchObject([
      { found: true, inputJson: '{"n":2}', outputJson: '{"n":2}', tooLarge: false },
      none,
      none,
      none,
      { found: true, inputJson: '{"n":1}', outputJson: '{"n":1}' },
      { found: true, inputJson: '{"n":3}', outputJson: "null" },
      { found: true, inputJson: '{"n":2}' },
    ]);
  });

  it("are left out when they have more bytes together than asked for, however well they are packed", async () => {
    const workflowId = await harness.deploy([mapping("a", "{{input.text}}")]);
    // {"text":"…"} and "…": 13 bytes around them.
    const half = BYTES_MAX / 2;
    const fits = await harness.runToEnd(workflowId, { text: "ü".repeat(half / 2 - 4) + "x" });
    const over = await harness.runToEnd(workflowId, { text: "ü".repeat(half / 2 - 3) });
    const huge = await harness.runToEnd(workflowId, { text: "x".repeat(900 * KIB) });
    const refs = [fits, over, huge].map(({ id: runId }) => ({ companyId, runId }));
    const payloads = await read(refs);
    expect(payloads.map(({ found, tooLarge }) => [found, tooLarge])).toEqual([
      [true, false],
      [true, true],
      [true, true],
    ]);
    expect(payloads.map(({ inputJson }) => inputJson.length > 0)).toEqual([true, false, false]);
  });

  it("of a hundred runs stay within 16 MiB; the rest is put off", async () => {
    const workflowId = await harness.deploy([mapping("a", 1)]);
    const large = { text: "x".repeat(250 * KIB) };
    const runIds = await Promise.all(
      Array.from({ length: 80 }, () => harness.start(workflowId, large)),
    );
    await harness.waitForEnd(runIds.at(-1) ?? "");
    const payloads = await read(runIds.map((runId) => ({ companyId, runId })));
    const told = payloads.filter(({ postponed }) => !postponed).length;
    expect(told).toBe(Math.floor((16 * KIB * KIB) / (250 * KIB + 11 + 4)));
    expect(payloads.slice(0, told).every(({ inputJson }) => inputJson.length > 0)).toBe(true);
    expect(payloads.slice(told)).toEqual(
      payloads.slice(told).map(() => ({
        found: true,
        tooLarge: false,
        inputJson: "",
        outputJson: "",
        postponed: true,
      })),
    );
  });

  it.each<[string, number, number]>([
    ["runs", 0, 1],
    ["runs", 101, 1],
    ["bytes_max", 1, 0],
    ["bytes_max", 1, BYTES_MAX + 1],
  ])("refuse a bad %s", async (field, count, bytesMax) => {
    const runs = Array.from({ length: count }, () => ({ companyId, runId: newId("run_") }));
    await expect(read(runs, bytesMax)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: [field] }],
    });
  });
});
