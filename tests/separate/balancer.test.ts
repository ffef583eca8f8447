import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createTestDatabase, createTestTokens, freePort, waitFor } from "@workflow/testkit";
import { startBalancer } from "../../deploy/dev/src/separate/balancer.ts";
import { startPartProcess } from "../../deploy/dev/src/separate/part-process.ts";
import { readyzUrlOf } from "../../deploy/dev/src/separate/plan.ts";
import { startApart } from "../support/apart/start-apart.ts";
import type { Apart } from "../support/apart/start-apart.ts";

/*
 * One port in front of gateways that are processes of their own: what a caller may ask for, and what becomes of
 * a gateway that hangs.
 */

const TIMEOUT_MS = 400_000;
const PATIENCE_MS = 120_000;
const NONE = {
  workflows: 0,
  "runs-api": 0,
  "runs-worker": 0,
  tables: 0,
  integrations: 0,
  webhooks: 0,
};

let scope: Scope;
beforeEach(() => {
  scope = createScope();
});
afterEach(() => scope.close(), TIMEOUT_MS);

async function startGateways(gateway: number): Promise<Apart> {
  const database = await createTestDatabase();
  scope.defer(() => database.close());
  const apart = await startApart(
    {
      databaseUrl: database.connectionUri,
      tokens: createTestTokens(),
      isImpatient: true,
      replicas: { ...NONE, gateway },
    },
    scope,
  );
  for (const { plan } of apart.parts.processes) {
    await waitFor(() => answers(apart.originOf(plan.name)), {
      timeoutMs: PATIENCE_MS,
      what: `${plan.name} to answer`,
    });
  }
  return apart;
}

function answers(origin: string): Promise<boolean> {
  return fetch(`${origin}/livez`).then(
    () => true,
    () => false,
  );
}

/** The status and the body that a request gets, as it is written. */
async function statusOf(origin: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(`${head}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return (await text(socket)).split(" ")[1] ?? "";
}

describe("a target that is none", () => {
  it(
    "is refused as the caller's mistake, and all others have the gateway's answer",
    async () => {
      const apart = await startGateways(1);
      for (const target of [
        "//",
        "//[",
        "http://[bad/",
        "mailto:a",
        "*",
        "//a/b",
        "/%",
        "/ä",
        "?",
      ]) {
        const head = `GET ${target} HTTP/1.1`;
        const [own, behind] = [
          await statusOf(apart.originOf("gateway"), head),
          await statusOf(apart.origin, head),
        ];
        expect([target, behind]).toEqual([target, expect.stringMatching(`^(${own}|400)$`)]);
      }
      const left = await fetch(`${apart.origin}/api/v1/workflows`, {
        headers: { connection: "keep-alive" },
      });
      expect([left.status, left.headers.get("connection")]).toEqual([401, "keep-alive"]);
    },
    TIMEOUT_MS,
  );
});

describe("a request with the longest address", () => {
  it(
    "has the gateway's answer",
    async () => {
      const apart = await startGateways(1);
      const filter = "%7B".repeat(50_000);
      const head = `GET /api/v1/tables/some/rows?filter=${filter} HTTP/1.1`;
      const [own, behind] = [
        await statusOf(apart.originOf("gateway"), head),
        await statusOf(apart.origin, head),
      ];
      expect([own, behind]).toEqual(["401", "401"]);
    },
    TIMEOUT_MS,
  );
});

describe("a gateway that hangs", () => {
  it(
    "has its request answered after the longest silence that is allowed, and is replaced",
    async () => {
      const apart = await startGateways(1);
      const [gateway] = apart.parts.processes;
      if (gateway === undefined) throw new Error("There is no gateway.");
      const told: string[] = [];
      const ports = new Map(gateway.plan.ports);
      const environment: Record<string, string> = { ...gateway.plan.environment };
      for (const setting of ports.keys()) {
        ports.set(setting, await freePort());
        environment[setting] = String(ports.get(setting));
      }
      const plan = { ...gateway.plan, environment, ports };
      const other = startPartProcess({
        plan,
        onLine: () => {},
        onEnd: (line) => void told.push(line),
        lookMs: 2_000,
      });
      scope.defer(() => other.stop());
      const port = ports.get("PORT") ?? 0;
      const origin = `http://127.0.0.1:${port}`;
      await waitFor(() => answers(origin), { timeoutMs: PATIENCE_MS, what: "the gateway" });
      const balancer = await startBalancer({
        host: "127.0.0.1",
        port: 0,
        gateways: [{ host: "127.0.0.1", port, readyzUrl: readyzUrlOf(plan) }],
        isBehindProxies: false,
        silenceMaxMs: 2_000,
      });
      scope.defer(() => balancer.close());

      const pid = other.pid();
      other.kill("SIGSTOP");
      const answer = await fetch(`http://127.0.0.1:${balancer.port}/livez`);
      expect([answer.status, await answer.json()]).toEqual([
        503,
        expect.objectContaining({ error: expect.objectContaining({ code: "UNAVAILABLE" }) }),
      ]);

      await waitFor(() => told.length > 0, { timeoutMs: PATIENCE_MS, what: "the line" });
      expect(told).toEqual([
        "gateway has ended (it did not answer and was killed). It is started again now.",
      ]);
      await waitFor(() => answers(origin), { timeoutMs: PATIENCE_MS, what: "the next gateway" });
      expect(other.pid()).not.toBe(pid);
    },
    TIMEOUT_MS,
  );
});
