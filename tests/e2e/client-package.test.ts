import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startBrowser, startHttpDouble } from "@workflow/testkit";
import { packClient } from "../support/packed-client.ts";
import type { PackedClient } from "../support/packed-client.ts";
import { createActive, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let packed: PackedClient;

beforeAll(async () => {
  packed = await packClient();
  system = await startWholeSystem();
});
afterAll(async () => {
  await system.stop();
  await packed.remove();
});

/** The same in Node and in a page: all kinds of calls. */
const TOUR = `
  import { createClient, isApiError } from "@workflow/client";
  export async function tour(baseUrl, apiKey, workflowId) {
    const client = createClient({ baseUrl, apiKey });
    const run = await client.workflows.runAndWait(workflowId, { input: { name: "Zoë" } });
    const events = [];
    for await (const event of client.runs.events(run.id)) events.push(event.type);
    const listed = [];
    for await (const { id } of client.runs.list({ workflowId, limit: 1 })) listed.push(id === run.id);
    const code = await client.runs.get("run_none").catch((error) => isApiError(error) && error.code);
    return { output: run.output, events, listed, code };
  }
`;
const TOLD = {
  output: { text: "Hello Zoë" },
  events: expect.arrayContaining(["step", "run"]),
  listed: [true],
  code: "NOT_FOUND",
};

const greeting = () =>
  createActive(system, { steps: [transform("out", { text: "Hello {{input.name}}" })] });

describe("the package", () => {
  it("brings compiled files and declarations, and depends on nothing", async () => {
    const kinds = packed.files
      .filter((name) => name.includes("."))
      .map((name) => name.split(".").at(-1));
    expect(new Set(kinds)).toEqual(new Set(["js", "ts", "json", "md"]));
    expect(packed.files.filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))).toEqual(
      [],
    );
    const manifest = "node_modules/@workflow/client/package.json";
    const code = `import fs from "node:fs"; console.log(fs.readFileSync("${manifest}", "utf8"))`;
    const parsed: unknown = JSON.parse(await packed.runProgram(code));
    expect(parsed).toMatchObject({ sideEffects: false, engines: { node: ">=20" } });
    expect(parsed).not.toHaveProperty("dependencies");
  });

  it("works in the machine's own Node, installed in an empty folder", async () => {
    const printed = await packed.runProgram(
      `${TOUR} console.log(JSON.stringify(await tour(process.env.URL, process.env.KEY, process.env.ID)))`,
      { URL: `${system.origin}/api/v1`, KEY: system.acme.key, ID: await greeting() },
    );
    expect(JSON.parse(printed)).toEqual(TOLD);
  });

  it("works in a page of another origin", async () => {
    const code = await packed.bundle(TOUR);
    const pages = await startHttpDouble(({ path }) =>
      path === "/tour.js"
        ? { headers: { "content-type": "text/javascript" }, body: code }
        : { headers: { "content-type": "text/html" }, body: "<!doctype html><title>Tour</title>" },
    );
    const gateway = await system.startGateway({ corsOrigins: [pages.url] });
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(pages.url);
      const words = [`${gateway.origin}/api/v1`, system.acme.key, await greeting()];
      const told: unknown = await page.evaluate(
        `import("/tour.js").then(({ tour }) => tour(...${JSON.stringify(words)}))`,
      );
      expect(told).toEqual(TOLD);
    } finally {
      await browser.close();
      await gateway.stop();
      await pages.close();
    }
  });

  it.each(["typescript", "typescript-7"] as const)(
    "has types that hold for users of %s",
    async (compiler) => {
      const code = `
      import { createClient, connect, getRun, isApiError, verifyWebhook } from "@workflow/client";
      import type { Run, Workflow } from "@workflow/client";
      const client = createClient({ baseUrl: "https://example.com/api/v1", apiKey: "wfk_" });
      const workflow: Workflow = await client.workflows.create({ name: "A", trigger: { type: "api" }, steps: [] });
      const run: Run = await getRun(connect({ baseUrl: "https://example.com" }), "run_1");
      for await (const { status } of client.runs.list({ workflowId: workflow.id })) status.toUpperCase();
      for await (const event of client.runs.events(run.id)) if (event.type === "step") event.data.stepId.at(0);
      const { items, meta } = await client.rows.query("t", { limit: 5 });
      const total: number = meta.total + items.length;
      const payload = await verifyWebhook(new Uint8Array(), new Headers(), ["a", "b"]);
      if (payload.type === "workflow.failed") payload.error?.code.at(total);
      try {
        await client.workflows.run(workflow.id, { mode: "sync" });
      } catch (error) {
        if (isApiError(error, "VALIDATION_ERROR")) error.details[0]?.path.at(0);
        if (isApiError(error, "TRIGGER_ERROR")) error.details.run_id.at(0);
      }
      // @ts-expect-error -- it has a name
      await client.workflows.create({ trigger: { type: "api" }, steps: [] });
      // @ts-expect-error -- there is no such operation
      client.workflows.explode();
      // @ts-expect-error -- there is no such status
      client.runs.list({ status: "resting" });
      client.runs.list({ status: undefined });
    `;
      expect(await packed.checkTypes(code, compiler)).toBe("");
    },
  );
});

describe("the package's page", () => {
  /** What the examples take for given, each unless it makes its own. */
  const GIVEN: Readonly<Record<string, string>> = {
    client: 'import("@workflow/client").WorkflowClient',
    body: 'import("@workflow/client").NewWorkflow',
    id: "string",
    runId: "string",
    input: "Record<string, unknown>",
    secret: "string",
    email: "string",
    password: "string",
    baseUrl: "string",
    apiKey: "string",
    app: "any",
    express: "any",
    process: "{ env: Record<string, string> }",
  };

  it("has examples whose types hold", async () => {
    const page = await readFile(
      new URL("../../packages/client/README.md", import.meta.url),
      "utf8",
    );
    const examples = Array.from(page.matchAll(/```ts\n([\s\S]*?)```/g), ([, code = ""]) => code);
    expect(examples.length).toBeGreaterThan(6);
    for (const example of examples) {
      const given = Object.entries(GIVEN)
        .filter(([name]) => !new RegExp(`const (?:${name}\\b|\\{ ${name} \\})`).test(example))
        .map(([name, type]) => `declare const ${name}: ${type};`);
      const code = `${example.replaceAll("async (request, response)", "async (request: any, response: any)")}\n${given.join("\n")}\nexport {};`;
      expect([example, await packed.checkTypes(code, "typescript-7")]).toEqual([example, ""]);
    }
  });
});

describe("a bundle", () => {
  /** Words that stand in the code of one part only, and that no minifier touches. */
  const PARTS = {
    retries: "retry-after",
    webhooks: "x-webhook-signature",
    events: "last-event-id",
    runs: "/workflows/{id}/run",
    tables: "/tables/import",
    agents: "/agents/{id}/evaluate",
  };
  const cases: [string, string, (keyof typeof PARTS)[]][] = [
    ["verifies webhooks", 'export { verifyWebhook } from "@workflow/client"', ["webhooks"]],
    ["makes one call", 'export { connect, listRuns } from "@workflow/client"', ["retries"]],
    ["follows runs", 'export { connect, watchRun } from "@workflow/client"', ["retries", "events"]],
    [
      "starts and waits for runs",
      'export { connect, runAndWait } from "@workflow/client"',
      ["retries", "events", "runs"],
    ],
    [
      "has the whole client",
      'export { createClient } from "@workflow/client"',
      ["retries", "events", "runs", "tables", "agents"],
    ],
    ["has nothing", 'import "@workflow/client"', []],
  ];

  it.each(cases)("that %s holds nothing else", async (title, code, expected) => {
    const bundle = await packed.bundle(code);
    const found = Object.entries(PARTS).filter(([, word]) => bundle.includes(word));
    expect(found.map(([part]) => part).toSorted()).toEqual(expected.toSorted());
    const kilobytes = (bytes: number): string => (bytes / 1_024).toFixed(1);
    const sizes = [Buffer.byteLength(bundle), gzipSync(bundle).length].map(kilobytes);
    process.stdout.write(`A bundle that ${title}: ${sizes[0]} KiB, ${sizes[1]} KiB with gzip\n`);
  });
});
