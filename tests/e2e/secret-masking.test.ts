import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, startHttpDouble } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { createWorkflow, startRun, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const SECRET = 'p4ss/"wörd"+&<tag>\\ with spaces';
const USER = "ada";
const MASK = "••••";

let testDatabase: TestDatabase;
let database: Database;
let system: WholeSystem;
let receiver: Awaited<ReturnType<typeof startHttpDouble>>;
let logged = "";

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    applicationName: "test",
  });
  system = await startWholeSystem({
    databaseUrl: testDatabase.connectionUri,
    log: { write: (line) => (logged += line) },
  });
  // Everything that came in goes back out, in every form that a receiver may give it.
  receiver = await startHttpDouble(({ headers, body, path }) => ({
    status: path.startsWith("/refuse") ? 422 : 200,
    headers: {
      "content-type": "application/json",
      "x-echo": encodeURIComponent(String(headers["x-token"] ?? "")),
    },
    body: JSON.stringify({
      headers,
      path,
      body,
      nested: JSON.stringify({ body }),
      base64: Buffer.from(body).toString("base64"),
      hex: Buffer.from(SECRET).toString("hex"),
      [SECRET]: "as a key",
    }),
  }));
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
  await database.end();
  await testDatabase.close();
});

/** The forms in which a secret may be given away. */
const FORMS: Record<string, string> = {
  plain: SECRET,
  "JSON-escaped": JSON.stringify(SECRET).slice(1, -1),
  "JSON-escaped twice": JSON.stringify(JSON.stringify(SECRET)).slice(3, -3),
  base64: Buffer.from(SECRET).toString("base64").replace(/=+$/, ""),
  base64url: Buffer.from(SECRET).toString("base64url"),
  "in basic credentials": Buffer.from(`${USER}:${SECRET}`).toString("base64").slice(8, -4),
  "percent-encoded": encodeURIComponent(SECRET),
  "form-encoded": new URLSearchParams({ "": SECRET }).toString().slice(1),
  hex: Buffer.from(SECRET).toString("hex"),
};

function expectNoSecret(text: string, where: string): void {
  const found = Object.entries(FORMS).filter(([, form]) => text.includes(form));
  expect({ where, forms: found.map(([name]) => name) }).toEqual({ where, forms: [] });
}

async function dumpDatabase(): Promise<string> {
  const tables = await database.any(sql.type(z.object({ name: z.string() }))`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('gateway', 'workflows', 'runs', 'integrations')
  `);
  const row = z.object({ text: z.string().nullable() });
  let dump = "";
  for (const { name } of tables) {
    const [schema = "", table = ""] = name.split(".");
    const { text } = await database.one(sql.type(row)`
      select string_agg(row::text, ' ') as text
      from ${sql.identifier([schema, table])} as row
    `);
    dump += text ?? "";
  }
  return dump;
}

async function runWith(steps: unknown[]) {
  const { id } = await createWorkflow(system, { steps });
  const secret = { key: "TOKEN", value: SECRET };
  const created = await system.call("POST", `/workflows/${id}/secrets`, { body: secret });
  expect(created.status).toBe(200);
  expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
  const run = await waitForRun(system, await startRun(system, id, {}));
  return { run, workflowId: id };
}

const call = (id: string, path: string, more: object = {}) => ({
  id,
  type: "action",
  name: id,
  action: "http.request",
  config: {
    method: "POST",
    url: `${receiver.url}${path}`,
    headers: { "x-token": "{{secrets.TOKEN}}".replace("TOKEN", "TOKEN") },
    body: { token: "{{secrets.TOKEN}}", text: "it is {{ secrets.TOKEN }}." },
    query: { key: "{{secrets.TOKEN}}" },
    auth: { type: "basic", username: USER, password: "{{secrets.TOKEN}}" },
  },
  ...more,
});

describe("a secret that steps use", () => {
  it("reaches the receiver as it is, and nothing that is stored, shown, emitted or logged", async () => {
    const request = call("send", "/ok");
    // A header cannot hold these characters; the body and the credentials can.
    request.config.headers = { "x-token": "none" };
    const { run, workflowId } = await runWith([
      request,
      {
        id: "keep",
        type: "transform",
        name: "keep",
        config: { mapping: { own: "{{secrets.TOKEN}}", echoed: "{{steps.send.output.body}}" } },
      },
      {
        id: "expr",
        type: "transform",
        name: "expr",
        config: { expression: "$keys($)", input: { "{{x}}": "{{secrets.TOKEN}}" } },
      },
    ]);
    expect(run.status).toBe("completed");
    const received = receiver.requests.find(({ path }) => path.startsWith("/ok"));
    expect(JSON.parse(received?.body ?? "")).toEqual({ token: SECRET, text: `it is ${SECRET}.` });
    const credentials = Buffer.from(`${USER}:${SECRET}`).toString("base64");
    expect(received?.headers.authorization).toBe(`Basic ${credentials}`);

    const [send, keep] = run.stepResults;
    expect(send?.input).toMatchObject({
      body: { token: MASK, text: `it is ${MASK}.` },
      auth: { username: USER, password: MASK },
    });
    expect(keep?.output).toMatchObject({ own: MASK });
    expectNoSecret(JSON.stringify(run), "the run");
    for (const path of [`/runs/${run.id}/logs`, `/runs?workflowId=${workflowId}`, "/workflows"]) {
      expectNoSecret((await system.call("GET", path)).text, path);
    }
    expectNoSecret(await dumpDatabase(), "the database");
    expectNoSecret(logged, "the logs");
  });

  it("is in no error either, of any attempt", async () => {
    const request = call("send", "/refuse", {
      retry: { maxAttempts: 2, delayMs: 1, backoff: "fixed" },
    });
    request.config.headers = { "x-token": "none" };
    const { run } = await runWith([
      request,
      { id: "never", type: "transform", name: "never", config: { mapping: 1 } },
    ]);
    expect(run.status).toBe("failed");
    expectNoSecret(JSON.stringify(run), "the run");
    expectNoSecret(await dumpDatabase(), "the database");
    expectNoSecret(logged, "the logs");
  });

  it("that cannot stand in a header fails the step without being named", async () => {
    const request = call("send", "/ok");
    request.config.headers = { "x-token": "{{secrets.TOKEN}}\n" };
    const { run } = await runWith([request]);
    expect(run.status).toBe("failed");
    expectNoSecret(JSON.stringify(run), "the run");
    expectNoSecret(logged, "the logs");
  });
});

describe("the secrets of a run", () => {
  it("are those of its moment: a replaced one is used by the next run, a deleted one is missing", async () => {
    const { id } = await createWorkflow(system, {
      steps: [
        {
          id: "hash",
          type: "action",
          name: "hash",
          action: "crypto.hmac",
          config: { algorithm: "sha256", text: "message", key: "{{secrets.SIGNING_KEY}}" },
        },
      ],
    });
    const path = `/workflows/${id}/secrets`;
    await system.call("POST", `/workflows/${id}/activate`);
    const outputs: unknown[] = [];
    const runOnce = async () => waitForRun(system, await startRun(system, id, {}));
    const missing = await runOnce();
    expect(missing.error?.code).toBe("MISSING_SECRET");
    expect(missing.stepResults).toMatchObject([{ attempt: 1, error: { code: "MISSING_SECRET" } }]);
    await system.call("POST", path, { body: { key: "SIGNING_KEY", value: "the first one" } });
    outputs.push((await runOnce()).output);
    await system.call("PUT", `${path}/SIGNING_KEY`, { body: { value: "the second one" } });
    outputs.push((await runOnce()).output);
    expect(new Set(outputs.map((output) => JSON.stringify(output))).size).toBe(2);
    await system.call("DELETE", `${path}/SIGNING_KEY`);
    expect((await runOnce()).error?.code).toBe("MISSING_SECRET");
  });
});
