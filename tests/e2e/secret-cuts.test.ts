import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { dumpTables } from "../support/dump-tables.ts";
import { createActive, getRun, startRun, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/* D19: where the words of others are cut, no part of a secret is left over. */

const TOKEN = "Kq7/Zt3+wX9vLb2\\pRf8&Ys4mNd6cHg5";
/** Masked it is so short that what a child process has cut would be shown. */
const LONG = Array.from({ length: 34 }, (_, n) =>
  createHash("sha512").update(String(n)).digest("base64url"),
).join("");
const WINDOW = 8;
/** What is recorded of an answer's body, and of an expression's message with a few words before it. */
const EXCERPT_CHARS = 500;
const MESSAGE_CHARS = 600;

const json = (value: string): string => JSON.stringify(value).slice(1, -1);
const base64 = (value: string | Buffer): string => Buffer.from(value).toString("base64");
const FORMS: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  upper: (value) => value.toUpperCase(),
  json,
  percent: encodeURIComponent,
  percentTwice: (value) => encodeURIComponent(encodeURIComponent(value)),
  hex: (value) => Buffer.from(value).toString("hex"),
  base64,
  base64Twice: (value) => base64(base64(value)),
  utf16: (value) => base64(Buffer.from(value, "utf16le")),
};

let testDatabase: TestDatabase;
let system: WholeSystem;
/** Answers with as many dots as the path says and what it was sent, in the form that the path says. */
let receiver: HttpDouble;
let logged = "";

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  system = await startWholeSystem({
    databaseUrl: testDatabase.connectionUri,
    log: { write: (line) => (logged += line) },
  });
  receiver = await startHttpDouble(({ path, body }) => {
    const [, form = "", dots = ""] = path.split("/");
    const encode = FORMS[form] ?? ((value: string) => value);
    return {
      status: 409,
      headers: { "content-type": "text/plain" },
      body: `${".".repeat(Number(dots))}${encode(body)} and more`,
    };
  });
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
  await testDatabase.close();
});

async function startWith(steps: unknown[], input: object): Promise<string> {
  const workflowId = await createActive(system, { steps });
  for (const secret of [
    { key: "TOKEN", value: TOKEN },
    { key: "LONG", value: LONG },
  ]) {
    const path = `/workflows/${workflowId}/secrets`;
    expect((await system.call("POST", path, { body: secret })).status).toBe(200);
  }
  return startRun(system, workflowId, input);
}

/** Everything that can be read of a run, whoever reads it. */
async function readAll(runId: string): Promise<Record<string, string>> {
  const texts: Record<string, string> = { events: await readEvents(runId), logs: logged };
  for (const path of ["", "/logs", "/approvals"]) {
    texts[path] = (await system.call("GET", `/runs/${runId}${path}`)).text;
  }
  texts["list"] = (await system.call("GET", "/runs?limit=100")).text;
  texts["approvals"] = (await system.call("GET", "/approvals")).text;
  return { ...texts, ...(await dumpTables(system.database)) };
}

/** All events of a run that has ended; of one that waits those that have been. */
async function readEvents(runId: string): Promise<string> {
  const stop = new AbortController();
  const { body } = await fetch(`${system.origin}/api/v1/runs/${runId}/events`, {
    headers: { "x-api-key": system.acme.key },
    signal: stop.signal,
  });
  let text = "";
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('"status":"waiting_approval"')) break;
  }
  stop.abort();
  return text;
}

async function expectNoPart(runId: string, secret: string): Promise<void> {
  for (const [where, text] of Object.entries(await readAll(runId))) {
    for (const [form, encode] of Object.entries(FORMS)) {
      const encoded = encode(secret.slice(0, 64));
      for (let at = 0; at + WINDOW <= encoded.length; at += 1) {
        const part = encoded.slice(at, at + WINDOW);
        if (text.includes(part)) expect({ where, form, at }).toBeNull();
      }
    }
  }
}

const forEach = (id: string, items: string, step: object) => ({
  id,
  type: "parallel",
  name: id,
  config: { forEach: items, steps: [{ ...step, onError: "continue" }] },
});

describe("no part of a secret", () => {
  it("is left at the cut of an answer's excerpt, in any form and attempt", async () => {
    const send = {
      id: "send",
      type: "action",
      name: "send",
      action: "http.request",
      config: {
        method: "POST",
        url: `${receiver.url}/{{loop.item.form}}/{{loop.item.dots}}`,
        body: "{{secrets.TOKEN}}",
      },
      retry: { maxAttempts: 2, delayMs: 1, backoff: "fixed" },
    };
    const items = Object.entries(FORMS).flatMap(([form, encode]) =>
      [0, 7, 15, encode(TOKEN).length].map((shown) => ({
        form,
        dots: EXCERPT_CHARS - shown,
      })),
    );
    const runId = await startWith([forEach("all", "{{input.items}}", send)], { items });
    const run = await waitForRun(system, runId);
    expect(run.stepResults.filter(({ path }) => path !== "all")).toHaveLength(items.length);
    for (const { path, error, previousAttempts } of run.stepResults) {
      if (path === "all") continue;
      expect(previousAttempts).toHaveLength(1);
      expect(String(error?.details?.["body"])).toMatch(/^\.{400}/);
    }
    await expectNoPart(runId, TOKEN);
  });

  it("is left of an expression's message, whether we cut it or its process did", async () => {
    const fail = {
      id: "fail",
      type: "transform",
      name: "fail",
      config: {
        expression: '$error($pad("", dots, ".") & token & long)',
        input: {
          dots: "{{loop.item.dots}}",
          token: "{{secrets.TOKEN}}",
          long: "{{loop.item.long}}",
        },
      },
    };
    const words = "The expression failed at character 7: ".length;
    const dots = Array.from({ length: 40 }, (_, shown) => MESSAGE_CHARS - words - shown);
    const items = dots.map((each) => ({ dots: each, long: "" }));
    // The items themselves carry the long one on.
    const long = [0, 1, 2].map((each) => ({ dots: 10 + each, long: "{{secrets.LONG}}".repeat(9) }));
    const runId = await startWith(
      [
        forEach("all", "{{input.items}}", fail),
        {
          ...forEach("long", "", fail),
          config: { forEach: long, steps: [{ ...fail, id: "failLong", onError: "continue" }] },
        },
      ],
      { items },
    );
    const run = await waitForRun(system, runId);
    const failed = run.stepResults.filter(({ path }) => path.includes("]"));
    expect(failed.map(({ error }) => error?.code)).toEqual(failed.map(() => "EXPRESSION_FAILED"));
    expect(failed).toHaveLength(items.length + long.length);
    expect(failed.at(-1)?.error?.message).toMatch(
      /^The expression failed at character 7: \.{12}•+$/,
    );
    await expectNoPart(runId, TOKEN);
    await expectNoPart(runId, LONG);
  });

  it("is in the message of an approval or in its rejection, though a loop carried it there", async () => {
    const ask = {
      id: "ask",
      type: "approval",
      name: "ask",
      config: { message: "May {{loop.item}} go?" },
      onError: "continue",
    };
    const runId = await startWith(
      [
        {
          id: "all",
          type: "loop",
          name: "all",
          config: { items: ["{{secrets.TOKEN}}"], steps: [ask] },
        },
      ],
      {},
    );
    await waitFor(async () => (await getRun(system, runId)).status === "waiting_approval");
    const approvals = await system.call("GET", `/runs/${runId}/approvals`);
    const [approval] = z
      .array(z.looseObject({ id: z.string(), message: z.string() }))
      .parse(approvals.data);
    expect(approval?.message).toBe("May •••• go?");
    await expectNoPart(runId, TOKEN);
    const body = { decision: "rejected", comment: "not that" };
    const address = `/runs/${runId}/approvals/${approval?.id}`;
    expect((await system.call("POST", address, { body })).status).toBe(200);
    const run = await waitForRun(system, runId);
    expect(run.stepResults.at(-1)?.output ?? run.stepResults[0]?.output).toBeDefined();
    await expectNoPart(runId, TOKEN);
  });
});
