import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { findLocalPostgres } from "@workflow/local-postgres";
import { freePort, waitFor } from "@workflow/testkit";
import { Client } from "pg";
import { z } from "zod";
import {
  cleanUp,
  exists,
  launch,
  postgresProcesses,
  printedCompany,
  printedKey,
  runAdmin,
  temporaryFolder,
  whenReady,
} from "./support/system.ts";
import type { StartedSystem } from "./support/system.ts";
import { makeCertificates } from "../src/separate/certificates.ts";
import { PARTS } from "../src/topology.ts";

const START = join(import.meta.dirname, "../src/start-separate.ts");
const TIMEOUT_MS = 400_000;
const SERVICES = ["gateway", "integrations", "runs", "tables", "webhooks", "workflows"];

afterAll(cleanUp, TIMEOUT_MS);

async function place(): Promise<{ DATA_DIR: string; PORT: string }> {
  // The folder has a space, as in the name of a user's folder.
  return { DATA_DIR: join(await temporaryFolder(), "da ta"), PORT: String(await freePort()) };
}

/** The processes that a process has started, by what they run. */
async function partsOf(pid: number | undefined): Promise<Map<number, string>> {
  const parts = new Map<number, string>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    const [, parent] = /\) \S (\d+)/.exec(await read("stat")) ?? [];
    if (Number(parent) !== pid) continue;
    const [, service] = /services\/(\w+)\/src\/main\.ts/.exec(await read("cmdline")) ?? [];
    if (service !== undefined) parts.set(Number(name), service);
  }
  return parts;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const answered = z.object({ success: z.literal(true), data: z.looseObject({ id: z.string() }) });

async function postJson(url: string, apiKey: string, body: object): Promise<unknown> {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** The environment of one process of a service. */
async function environmentOf(
  parts: ReadonlyMap<number, string>,
  service: string,
): Promise<Record<string, string>> {
  const [pid] = [...parts].find(([, name]) => name === service) ?? [];
  return environmentAt(pid);
}

async function environmentAt(pid: number | undefined): Promise<Record<string, string>> {
  const lines = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0");
  return Object.fromEntries(
    lines.map((line) => [line.split("=", 1)[0], line.replace(/^.*?=/, "")]),
  );
}

/** Sends an inbound event to a company's route for which no workflow waits; returns the answer. */
async function sendEvent({ baseUrl }: StartedSystem, companyId: string): Promise<unknown> {
  const url = baseUrl.replace("/api/v1", `/webhooks/custom/${companyId}/orders`);
  return postJson(url, "", { n: 1 });
}

/** The renewals that a process counts in its metrics. */
async function renewalsAt({ METRICS_PORT: port }: Record<string, string>): Promise<string> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return /^tls_certificate_renewals_total\{outcome="used"\} (\d+)/m.exec(text)?.[1] ?? "0";
}

/** The details that a process tells beside its state, as JSON. */
async function detailsAt({ METRICS_PORT: port }: Record<string, string>): Promise<string> {
  const answer = await (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
  return JSON.stringify(z.object({ details: z.unknown() }).parse(answer).details);
}

/** Makes a workflow and starts a run that needs every part on its way; returns the last answer. */
async function runOnce({ baseUrl }: StartedSystem, apiKey: string): Promise<unknown> {
  const post = (path: string, body: object) => postJson(baseUrl + path, apiKey, body);
  const step = { id: "a", type: "transform", name: "A", config: { mapping: "{{input.name}}" } };
  const made = await post("/workflows", {
    name: "First",
    trigger: { type: "api" },
    steps: [step],
  });
  const { id } = answered.parse(made).data;
  await post(`/workflows/${id}/activate`, {});
  return post(`/workflows/${id}/run`, { mode: "sync", input: { name: "Ada" } });
}

/** The database users of the services' sessions. */
async function usersIn(dataDir: string): Promise<string[]> {
  const running = await findLocalPostgres(dataDir);
  const client = new Client({ connectionString: running?.connectionUri ?? "" });
  await client.connect();
  try {
    const { rows } = await client.query<{ usename: string }>(
      "select distinct usename from pg_stat_activity where usename <> 'postgres' order by usename",
    );
    return rows.map(({ usename }) => usename);
  } finally {
    await client.end();
  }
}

type Parts = Awaited<ReturnType<typeof partsOf>>;

/** One worker is of the pool that the command names; each part tells its role and pool. */
async function expectPools(parts: Parts): Promise<void> {
  const environments = await Promise.all([...parts.keys()].map(environmentAt));
  const pooled = environments.filter(({ RUNS_POOL: pool }) => pool !== undefined);
  expect(pooled.map(({ RUNS_POOL: pool }) => pool)).toEqual(["heavy"]);
  const told = environments
    .filter(({ RUNS_ROLE: role }) => role !== undefined)
    .map(async (environment) => `${environment["RUNS_ROLE"]} ${await detailsAt(environment)}`);
  const ofWorker = (pool: string) => `worker {"pool":"${pool}"}`;
  const workers = ["default", "default", "heavy"].map(ofWorker);
  expect((await Promise.all(told)).toSorted()).toEqual(["api {}", "api {}"].concat(workers));
}

/** Makes another authority and new pairs, and waits until all services take them up while they run. */
async function renewCertificates(dataDir: string, parts: Parts): Promise<void> {
  const services = new Set(PARTS.map(({ service }) => service));
  await makeCertificates(join(dataDir, "tls"), [...services]);
  for (const service of SERVICES) {
    const environment = await environmentOf(parts, service);
    await waitFor(async () => (await renewalsAt(environment)) !== "0", {
      timeoutMs: 120_000,
      what: `${service} to take up renewed certificates`,
    });
  }
}

describe("npm run start:separate", () => {
  it(
    "runs each part as a process with a role of its own, over TLS, starts one again that dies, and stops all",
    async () => {
      const settings = await place();
      const system = await whenReady(
        launch([START, "--tls", "--pool", "heavy"], settings),
        settings,
      );
      const key = printedKey(system.stdout());
      const company = printedCompany(system.stdout());

      expect(await runOnce(system, key)).toMatchObject({
        success: true,
        data: { status: "completed", output: "Ada" },
      });
      const parts = await partsOf(system.child.pid);
      expect(parts.size).toBe(13);
      await expectPools(parts);
      expect([...new Set(parts.values())].toSorted()).toEqual(SERVICES);
      expect(await usersIn(settings.DATA_DIR)).toEqual(SERVICES.map((name) => `workflow_${name}`));
      // The authority's key is gone, so that nobody can make one more certificate.
      expect(await exists(join(settings.DATA_DIR, "tls/ca.pem"))).toBe(true);
      expect(await exists(join(settings.DATA_DIR, "tls/ca.key"))).toBe(false);
      // Events from outside go on over TLS; the webhooks service takes no plain text.
      const webhooks = await environmentOf(parts, "webhooks");
      expect(await sendEvent(system, company)).toMatchObject({ received: true });
      await expect(fetch(`http://${webhooks["WEBHOOKS_HTTP_ADDR"]}/`)).rejects.toThrow();
      // The command would take effect at none of the processes.
      const rotation = await runAdmin(settings, "rotate-kek --json");
      expect(rotation.exitCode).toBe(1);
      expect(rotation.stderr).toContain("npm run start:separate");

      await renewCertificates(settings.DATA_DIR, parts);

      const [gateway = 0] = [...parts].find(([, service]) => service === "gateway") ?? [];
      process.kill(gateway, "SIGKILL");
      const line = /^gateway-\d has ended \(SIGKILL\)\. It is started again now\.$/m;
      await waitFor(() => line.test(system.stderr()), { what: "the line about the restart" });
      expect(await system.statusOf("/workflows", key)).toBe(200);
      await waitFor(async () => (await partsOf(system.child.pid)).size === 13);
      // The new gateway connects anew, to processes that have run all the time.
      await waitFor(
        async () => expect(await sendEvent(system, company)).toMatchObject({ received: true }),
        { timeoutMs: 120_000, what: "both gateways to reach the webhooks service" },
      );
      expect(await runOnce(system, key)).toMatchObject({ data: { output: "Ada" } });

      const last = await partsOf(system.child.pid);
      system.child.kill("SIGINT");
      expect(await system.ended).toMatchObject({ exitCode: 0 });
      const lines = system.stderr().split("\n");
      // Some processes may have seen that files of certificates were missing while they were written.
      const others = lines.filter(
        (each) => each !== "" && !each.includes("the files of certificates"),
      );
      expect(others).toHaveLength(1);
      expect([...last.keys()].filter(isAlive)).toEqual([]);
      expect(await postgresProcesses(settings.DATA_DIR)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "leaves nothing running when it is killed, and the next start goes on with its data",
    async () => {
      const at = await place();
      const keyFile = join(dirname(at.DATA_DIR), "kek");
      await writeFile(keyFile, randomBytes(32).toString("base64"));
      const settings = { ...at, SECRETS_KEK_FILE: keyFile };
      const first = await whenReady(launch([START], settings), settings);
      const key = printedKey(first.stdout());
      const parts = [...(await partsOf(first.child.pid)).keys()];
      first.child.kill("SIGKILL");
      await waitFor(() => !parts.some(isAlive), {
        timeoutMs: 60_000,
        what: "the parts to end with their starter",
      });

      const second = await whenReady(launch([START], settings), settings);
      expect(await second.statusOf("/workflows", key)).toBe(200);
      second.child.kill("SIGTERM");
      expect(await second.ended).toMatchObject({ exitCode: 0, stderr: "" });
    },
    TIMEOUT_MS,
  );
});

describe("what contradicts separate parts", () => {
  it("is refused by name, before anything is started", async () => {
    const settings = await place();
    const keyFile = join(dirname(settings.DATA_DIR), "key.pem");
    const { privateKey } = generateKeyPairSync("ed25519");
    await writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    const given = {
      ...settings,
      INTERNAL_TOKEN_PRIVATE_KEY: "",
      GRPC_TLS_CERT_FILE: "/somewhere/cert.pem",
      GRPC_TLS_KEY_FILE: "/somewhere/key.pem",
      INTERNAL_TOKEN_PRIVATE_KEY_FILE: keyFile,
      RUNS_ROLE: "worker",
    };
    const { exitCode, stderr, stdout } = await launch([START], given).ended;
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    const refused = ["GRPC_TLS_CERT_FILE", "GRPC_TLS_KEY_FILE", "RUNS_ROLE"];
    for (const name of [...refused, "INTERNAL_TOKEN_PRIVATE_KEY_FILE"]) {
      expect(stderr).toContain(`${name}: npm run start:separate`);
    }
    expect(stderr).not.toContain("INTERNAL_TOKEN_PRIVATE_KEY:");
    const proxies = await launch([START], { ...settings, TRUSTED_PROXIES: "10" }).ended;
    expect(proxies).toMatchObject({ exitCode: 1, stdout: "" });
    expect(proxies.stderr).toContain("TRUSTED_PROXIES: npm run start:separate");
    const names = ["Heavy", "under_score", "1st", "-x", "", "a".repeat(41)];
    const flags = names.map((name) => `--pool=${name}`);
    const pools = await launch([START, "--pool", "good", ...flags], settings).ended;
    expect(pools).toMatchObject({ exitCode: 1, stdout: "" });
    for (const name of names) {
      expect(pools.stderr).toContain(`--pool ${name}: is no name of a worker pool`);
    }
    expect(pools.stderr).not.toContain("--pool good");
    const pool = await launch([START], { ...settings, RUNS_POOL: "Heavy" }).ended;
    expect(pool).toMatchObject({ exitCode: 1, stdout: "" });
    expect(pool.stderr).toContain("RUNS_POOL: ");
    const typo = await launch([START, "--tsl"], settings).ended;
    expect(typo).toMatchObject({ exitCode: 1, stdout: "" });
    expect(typo.stderr).toContain("npm run start:separate [-- --tls]");
  });
});
