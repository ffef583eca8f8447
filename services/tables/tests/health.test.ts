import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const HEALTH_TIMEOUT_MS = 2_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

describe("the tables service", () => {
  it("answers that it is serving, and no longer once it was stopped", async () => {
    const service = await harness.start();
    const { tables } = harness.connect(service);
    expect(await tables.isServing(HEALTH_TIMEOUT_MS)).toBe(true);
    await service.stop();
    expect(await tables.isServing(HEALTH_TIMEOUT_MS)).toBe(false);
  });

  it("gives its address back when it stops", async () => {
    const first = await harness.start();
    await first.stop();
    const second = await harness.start({ grpcAddress: first.grpcAddress });
    expect(second.grpcAddress).toBe(first.grpcAddress);
  });
});
