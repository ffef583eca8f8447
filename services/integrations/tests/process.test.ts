import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { createNatsEventBus } from "@workflow/events";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRpcClient } from "@workflow/rpc";
import {
  createTestDatabase,
  createTestTokens,
  freePort,
  startLocalNats,
  waitFor,
} from "@workflow/testkit";
import type { LocalNats, TestDatabase } from "@workflow/testkit";
import { pino } from "pino";
import { archivedEvent, newIdentity } from "./support/harness.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const tokens = createTestTokens();

let testDatabase: TestDatabase;
let nats: LocalNats;
let environment: Record<string, string>;
const children: ChildProcess[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  nats = await startLocalNats();
  environment = {
    DATABASE_URL: testDatabase.connectionUri,
    NATS_URL: nats.url,
    SECRETS_KEK: randomBytes(32).toString("base64"),
    INTEGRATIONS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
    ...tokens.environment(),
    METRICS_PORT: "0",
    // As settings that are not set: the AI SDK would not start with them.
    OPENAI_BASE_URL: "",
    ANTHROPIC_BASE_URL: "",
  };
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
afterAll(async () => {
  await nats.stop();
  await testDatabase.close();
});

/** The service as a process with these settings only. */
function launch(settings: Record<string, string>): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env["PATH"], ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { child, output: () => text };
}

describe("the service as a process", () => {
  it("takes its settings from the environment, hears of archived workflows over NATS and ends with code 0", async () => {
    const { child } = launch(environment);
    const client = createRpcClient(SecretsServiceService, {
      address: environment["INTEGRATIONS_GRPC_ADDR"] ?? "",
      minter: tokens.minterTo("integrations"),
    });
    const bus = createNatsEventBus({
      servers: nats.url,
      name: "test",
      logger: pino({ level: "silent" }),
    });
    try {
      await waitFor(() => client.isServing(500), { what: "the process", timeoutMs: 60_000 });
      const identity = newIdentity();
      const workflowId = newUuid();
      const request = { workflowId, key: "A", value: "value" };
      await client.createSecret(request, { identity });
      const event = archivedEvent(identity, workflowId);
      await waitFor(() => bus.publish([event]), { what: "the event to be published" });
      await waitFor(async () => {
        const { secrets } = await client.listSecrets({ workflowId }, { identity });
        return secrets.length === 0;
      });
      await expect(client.createSecret(request, { identity })).rejects.toMatchObject({
        reason: "BAD_REQUEST",
      });
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    } finally {
      await bus.close();
      client.close();
    }
  });

  it.each([
    ["missing", {}],
    ["too short", { SECRETS_KEK: "c2hvcnQ=" }],
  ])("does not start with a SECRETS_KEK that is %s", async (_what, given) => {
    const { SECRETS_KEK: _left, ...others } = environment;
    const { child, output } = launch({ ...others, ...given });
    expect(await once(child, "exit")).toEqual([1, null]);
    expect(output()).toContain("SECRETS_KEK");
    expect(output()).not.toContain("c2hvcnQ=");
  });
});
