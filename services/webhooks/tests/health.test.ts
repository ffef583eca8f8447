import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createInProcessEventBus } from "@workflow/events";
import { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import { createRpcClient } from "@workflow/rpc";
import { createLogger } from "@workflow/service";
import { createTestDatabase, createTestTokens } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { startWebhooksService } from "../src/service.ts";

const HEALTH_TIMEOUT_MS = 2_000;
const tokens = createTestTokens();

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.close());

function start(grpcAddress: string) {
  return startWebhooksService({
    grpcAddress,
    httpAddress: "127.0.0.1:0",
    loadKeks: () => Promise.resolve([randomBytes(32)]),
    bus: createInProcessEventBus({ consumers: {} }),
    runsGrpcAddress: "127.0.0.1:1",
    integrationsGrpcAddress: "127.0.0.1:1",
    tokenSigner: tokens.signerOf("webhooks"),
    databaseUrl: testDatabase.connectionUri,
    databasePoolSize: 2,
    tokenPublicKeys: tokens.publicKeys,
    logger: createLogger({ name: "webhooks", level: "silent" }),
  });
}

/** Every client can ask for health, whichever service it was made for. */
function connect(address: string) {
  const minter = tokens.minterTo("webhooks");
  return createRpcClient(RunsServiceService, { address, minter });
}

describe("the webhooks service", () => {
  it("answers that it is serving, and no longer once it was stopped", async () => {
    const service = await start("127.0.0.1:0");
    const client = connect(service.grpcAddress);
    try {
      expect(await client.isServing(HEALTH_TIMEOUT_MS)).toBe(true);
      await service.stop();
      expect(await client.isServing(HEALTH_TIMEOUT_MS)).toBe(false);
    } finally {
      client.close();
      await service.stop();
    }
  });

  it("gives its address back when it stops", async () => {
    const first = await start("127.0.0.1:0");
    await first.stop();
    const second = await start(first.grpcAddress);
    expect(second.grpcAddress).toBe(first.grpcAddress);
    await second.stop();
  });
});
