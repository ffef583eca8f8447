import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createClient } from "@workflow/client";
import type { WorkflowClient } from "@workflow/client";
import { startOAuthDouble, startOpenAiDouble, startSmtpDouble } from "@workflow/testkit";
import type { AskedModel, ModelDouble, OAuthDouble, SmtpDouble } from "@workflow/testkit";
import {
  cleanUp,
  launch,
  launchProgram,
  printedKey,
  startSystem,
  temporaryFolder,
  testSettings,
} from "../../deploy/dev/tests/support/system.ts";
import type { Outcome, StartedSystem } from "../../deploy/dev/tests/support/system.ts";

const ROOT = join(import.meta.dirname, "../..");
const RECIPES = ["invoice-approval", "nightly-report", "stripe-to-crm", "csv-import", "gitops"];
const STRIPE = { clientId: "ca_ours", clientSecret: "sk_ours" };
const STRIPE_WEBHOOK_SECRET = "whsec_of_the_example";
const ACCOUNT = "acct_1Example";

let openai: ModelDouble;
let smtp: SmtpDouble;
let stripe: OAuthDouble;
let system: StartedSystem;
let apiKey: string;
let client: WorkflowClient;

beforeAll(async () => {
  openai = await startOpenAiDouble();
  smtp = await startSmtpDouble();
  stripe = await startOAuthDouble({
    ...STRIPE,
    pkce: false,
    tokenMembers: { stripe_user_id: ACCOUNT },
  });
  system = await startSystem({
    ...(await testSettings(await temporaryFolder())),
    OUTBOUND_ALLOW_PRIVATE: "true",
    OPENAI_API_KEY: openai.key,
    OPENAI_BASE_URL: openai.baseUrl,
    SMTP_URL: smtp.url,
    EMAIL_FROM: "reports@acme.example",
    STRIPE_CLIENT_ID: STRIPE.clientId,
    STRIPE_CLIENT_SECRET: STRIPE.clientSecret,
    STRIPE_OAUTH_BASE_URL: stripe.url,
    STRIPE_WEBHOOK_SECRET,
  });
  apiKey = printedKey(system.stdout());
  client = createClient({ baseUrl: system.baseUrl, apiKey });
});
beforeEach(() => {
  openai.reply = readInvoice;
});
afterAll(async () => {
  await cleanUp();
  await Promise.all([openai?.close(), smtp?.close(), stripe?.close()]);
});

/** As a model would that reads both invoices. */
function readInvoice({ messages }: AskedModel): string {
  const text = messages.map((message) => message.text).join("");
  const data = text.includes("Northern Machines")
    ? { supplier: "Northern Machines GmbH", total: 14_280, dueDate: "2026-12-23" }
    : { supplier: "Paper & Pens Ltd", total: 99.96, dueDate: "2026-12-15" };
  const confidence = { supplier: 1, total: 1, currency: 1, dueDate: 1 };
  return JSON.stringify({
    data: { ...data, currency: "EUR" },
    confidence,
    overallConfidence: 0.98,
    missingFields: [],
    notes: null,
  });
}

function run(recipe: string, settings: Record<string, string> = {}): Promise<Outcome> {
  const program = join(import.meta.dirname, "..", recipe, "run.ts");
  return launch([program], { API_KEY: apiKey, BASE_URL: system.baseUrl, ...settings }).ended;
}

async function runWell(recipe: string, settings: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await run(recipe, settings);
  expect({ recipe, exitCode, stderr }).toEqual({ recipe, exitCode: 0, stderr: "" });
  return stdout;
}

async function rowsOf(tableName: string): Promise<Record<string, unknown>[]> {
  const tables = await client.tables.list().all();
  const table = tables.find(({ name }) => name === tableName);
  if (table === undefined) return [];
  const rows = await client.rows.query(table.id, { limit: 100 }).all();
  return rows.map(({ data }) => data);
}

describe("invoice approval", () => {
  it("books a small invoice by itself and a large one after a person agreed, each time", async () => {
    for (const times of [1, 2]) {
      const stdout = await runWell("invoice-approval");
      expect(stdout).toContain(
        "  asks: Pay 14280 EUR to Northern Machines GmbH by 2026-12-23?\n  approved\n",
      );
      expect(stdout.match(/asks:/g)).toHaveLength(1);
      expect(stdout.match(/told workflow\.completed, and the signature is right/g)).toHaveLength(2);
      const rows = await rowsOf("Invoices (example)");
      expect(rows).toHaveLength(2 * times);
      expect(rows.slice(-2)).toEqual([
        expect.objectContaining({ supplier: "Paper & Pens Ltd", total: 99.96, costCentre: null }),
        expect.objectContaining({ total: 14_280, due: "2026-12-23", costCentre: "4711" }),
      ]);
    }
    expect(await client.webhookEndpoints.list().all()).toEqual([]);
  });

  it("books nothing that the person rejects, and asks about what the agent is unsure of", async () => {
    const before = await rowsOf("Invoices (example)");
    openai.reply = (asked) => readInvoice(asked).replace("0.98", "0.5");
    const stdout = await runWell("invoice-approval", { DECISION: "rejected" });
    expect(stdout.match(/asks:/g)).toHaveLength(2);
    expect(stdout.match(/told workflow\.failed, and the signature is right/g)).toHaveLength(2);
    expect(await rowsOf("Invoices (example)")).toEqual(before);
  });
});

describe("the nightly report", () => {
  it("sends by e-mail what all pages of yesterday's sales come to, and tells when it fires", async () => {
    const REPORT_TO = "boss@acme.example";
    const stdout = await runWell("nightly-report", { REPORT_TO });
    expect(stdout.match(/^ {2}\S+Z {3}\S+ 06:30:00$/gm)).toHaveLength(5);
    expect(stdout).toContain("started by its schedule: completed");
    const day = new Intl.DateTimeFormat("sv-SE", { timeZone: "Europe/Berlin" });
    const yesterday = day.format(Date.now() - 86_400_000);
    const [message, ...others] = smtp.messages.splice(0);
    expect(others).toEqual([]);
    expect(message?.to).toEqual([REPORT_TO]);
    expect(message?.headers.get("subject")).toBe(`Sales of ${yesterday}`);
    const rows = await client.tables.list().all();
    const table = rows.find(({ name }) => name === "Sales (example)");
    const { groups } = await client.rows.aggregate(table?.id ?? "", {
      groupBy: "region",
      measures: [{ fn: "sum", column: "amount" }],
    });
    expect(groups).toHaveLength(3);
    for (const { key, values } of groups) {
      expect(message?.body).toContain(`${String(key)}: ${Number(values[0]).toFixed(2)} EUR\r\n`);
    }
    expect(message?.body).toContain("from 250 sales");
    expect(await runWell("nightly-report", { REPORT_TO })).toContain("has started 2 runs");
  });

  it("says whose address is missing", async () => {
    const { exitCode, stderr } = await run("nightly-report");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("REPORT_TO is not set.")]);
  });
});

describe("Stripe to CRM", () => {
  it("tells where to connect an account, then makes and updates the contact of whoever pays", async () => {
    const unconnected = await run("stripe-to-crm", { STRIPE_WEBHOOK_SECRET });
    expect(unconnected.exitCode).toBe(1);
    const [authUrl = ""] = /^http\S+$/m.exec(unconnected.stderr) ?? [];
    const back = await fetch(await stripe.visit(authUrl));
    expect(back.status).toBe(200);
    for (const attempt of ["first", "second"]) {
      const stdout = await runWell("stripe-to-crm", { STRIPE_WEBHOOK_SECRET });
      expect(stdout.match(/^Event checkout.session.completed, signature verified$/gm)).toHaveLength(
        2,
      );
      expect({ attempt, stdout }).toMatchObject({
        stdout: expect.stringContaining('"isNew":true'),
      });
      expect(stdout).toContain('"email":"ada@example.com"');
      expect(stdout).toContain('"lastPaid":"49 EUR"');
      expect(stdout).toContain('"isNew":false');
      expect(stdout).toContain('{"event":"charge.refunded","crm":null}');
    }
    const wrong = await run("stripe-to-crm", { STRIPE_WEBHOOK_SECRET: "whsec_of_somebody_else" });
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining(": 401 ")]);
  });
});

describe("the CSV import", () => {
  it("starts a run per row and lists the rows that failed, with run and reason, each time", async () => {
    for (const times of [1, 2]) {
      const stdout = await runWell("csv-import");
      expect(stdout).toContain("6 done, 2 failed, of 8\n");
      const failed = [
        ...stdout.matchAll(/^failed: order (\S+), (run_\w+): INPUT_INVALID .*quantity/gm),
      ];
      expect(new Set(failed.map(([, order]) => order))).toEqual(new Set(["A-1003", "A-1006"]));
      const run = await client.runs.get(failed[0]?.[2] ?? "");
      expect([run.status, run.triggerType]).toEqual(["failed", "table"]);
      const rows = await rowsOf("Imported orders (example)");
      expect(rows.filter(({ state }) => state === "done")).toHaveLength(6 * times);
      expect(rows).toContainEqual(
        expect.objectContaining({ customer: "Bell, Alexander", total: 249, state: "done" }),
      );
    }
  });
});

describe("a CSV file in another encoding than UTF-8", () => {
  it("is not imported with question marks in place of letters", async () => {
    const file = join(await temporaryFolder(), "latin.csv");
    await writeFile(file, Buffer.from("order,customer\nA-1,Zoë\n", "latin1"));
    const words = [join(ROOT, "examples/csv-import/run.ts"), file];
    const ended = await launch(words, { API_KEY: apiKey, BASE_URL: system.baseUrl }).ended;
    expect([ended.exitCode, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toBe(`${file} cannot be read as UTF-8 text.\n`);
  });
});

describe("definitions as files", () => {
  it("are deployed, refused when somebody else has changed them, and deployed after a pull", async () => {
    const build = await launch([join(ROOT, "packages/cli/build.ts")], {}).ended;
    expect(build).toMatchObject({ exitCode: 0, stderr: "" });
    const stdout = await runWell("gitops");
    const answers = stdout.matchAll(/^A run answers \{"text":"(.*) Ada"\}$/gm);
    expect([...answers].map(([, text]) => text)).toEqual(["Hello", "Good morning", "Good evening"]);
    expect(stdout).toMatch(/^-.*Hello[^]*^\+.*Good morning/m);
    expect(stdout).toContain("somebody has changed");
    const left = await client.workflows.list({ search: "Greeting from git" }).all();
    expect(left).toEqual([]);
  });
});

describe("each recipe", () => {
  it.each(RECIPES)(
    "says how to get a key when there is none, and who does not answer: %s",
    async (recipe) => {
      const more = { REPORT_TO: "boss@acme.example", STRIPE_WEBHOOK_SECRET };
      const keyless = await run(recipe, { ...more, API_KEY: "" });
      expect(keyless.exitCode).toBe(1);
      expect(keyless.stderr).toMatch(/^API_KEY is not set\. [^]*npm run admin -- create-api-key/);
      const serverless = await run(recipe, { ...more, BASE_URL: "http://127.0.0.1:1/api/v1" });
      expect([serverless.exitCode, serverless.stderr]).toEqual([
        1,
        "http://127.0.0.1:1/api/v1 cannot be reached. Is npm start running there?\n",
      ]);
    },
  );
});

/** On a fresh machine Python may be missing: its tests are shown as skipped then, not as passed. */
const describePython = isHere("python3") ? describe : describe.skip;

describePython("the Python example (skipped where python3 is missing)", () => {
  it("starts runs, reads all pages and verifies deliveries", async () => {
    const { exitCode, stdout, stderr } = await runPython({ API_KEY: apiKey });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^run_\w+ completed \{"text": "Hello Zoë"\}$/m);
    expect(stdout).toContain("The workflow has had 3 runs.\n");
    expect(stdout).toContain(
      "A delivery is ours: True\nA forged one is ours: False\nAn old one is ours: False\n",
    );
  });

  it("says in a sentence that the key or the server is missing, or that the key is wrong", async () => {
    const outcomes = await Promise.all([
      runPython({ API_KEY: "" }),
      runPython({ API_KEY: apiKey, BASE_URL: "http://127.0.0.1:1/api/v1" }),
      runPython({ API_KEY: `wfk_${"0".repeat(32)}` }),
    ]);
    expect(outcomes).toEqual([
      { exitCode: 1, stdout: "", stderr: expect.stringMatching(/^API_KEY is not set\./) },
      {
        exitCode: 1,
        stdout: "",
        stderr: "http://127.0.0.1:1/api/v1 cannot be reached. Is npm start running there?\n",
      },
      { exitCode: 1, stdout: "", stderr: expect.stringMatching(/^401 UNAUTHORIZED: .*\n$/) },
    ]);
  });
});

const LANGUAGES: readonly [language: string, programs: string[], words: string[]][] = [
  ["ts", [process.execPath], ["--input-type=module-typescript", "-"]],
  ["python", ["python3"], ["-"]],
  ["sh", ["bash", "curl"], ["-euo", "pipefail", "-s"]],
];
const absent = LANGUAGES.flatMap(([, programs]) => programs).filter((each) => !isHere(each));
const notRun = absent.length === 0 ? "" : ` (not on this machine: ${absent.join(", ")})`;

describe(`docs/clients.md${notRun}`, () => {
  it.each(LANGUAGES.filter(([, programs]) => programs.every(isHere)))(
    "does its five tasks: %s",
    async (language, [program = ""], words) => {
      const page = readFileSync(join(ROOT, "docs/clients.md"), "utf8");
      const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)];
      const own = blocks.filter(([, info]) => info === language).map(([, , code]) => code);
      expect(own).toHaveLength(6);
      const settings = { API_KEY: apiKey, BASE_URL: system.baseUrl, PYTHONUTF8: "1" };
      const around = { stdin: own.join("\n"), cwd: ROOT };
      const { exitCode, stdout, stderr } = await launchProgram(program, words, settings, around)
        .ended;
      expect({ exitCode, stderr, stdout }).toEqual({
        exitCode: 0,
        stderr: "",
        stdout: "Greeting is active\ncompleted Hello Ada\n2 runs\nZoë\n404 NOT_FOUND\n",
      });
    },
  );
});

function runPython(settings: Record<string, string>): Promise<Outcome> {
  const words = [join(ROOT, "examples/python/run.py")];
  const all = { BASE_URL: system.baseUrl, PYTHONUTF8: "1", ...settings };
  return launchProgram("python3", words, all).ended;
}

function isHere(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).error === undefined;
}
