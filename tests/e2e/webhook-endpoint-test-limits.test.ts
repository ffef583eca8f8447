import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { makeEndpoint, makeReceived, testEndpoint } from "../support/received-webhooks.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;
let answer: DoubleHandler = () => ({});

beforeAll(async () => {
  receiver = await startHttpDouble((request, response) => answer(request, response));
  system = await startWholeSystem();
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

describe("a test of an endpoint", () => {
  it("goes on at most four times at once; of a company that asks for more the rest is refused", async () => {
    const { key } = system.globex;
    const url = `${receiver.url}/${newUuid()}`;
    const { id } = await makeEndpoint(system, key, { url });
    const letGo = Promise.withResolvers<void>();
    let open = 0;
    let most = 0;
    answer = async ({ path }) => {
      if (!url.endsWith(path)) return {};
      open += 1;
      most = Math.max(most, open);
      await letGo.promise;
      open -= 1;
      return {};
    };
    const path = `/webhook-endpoints/${id}/test`;
    const tests = Array.from({ length: 30 }, () => system.call("POST", path, { key }));
    const first = await Promise.race(tests);
    expect(first).toMatchObject({ status: 429, error: { details: { limit: "tests" } } });
    await waitFor(() => open === 4);
    // Another company's does not wait for them.
    expect(await testEndpoint(system, await makeReceived(system, receiver))).toMatchObject({
      success: true,
    });
    letGo.resolve();
    const statuses = (await Promise.all(tests)).map(({ status }) => status);
    const refused = statuses.filter((status) => status === 429);
    const done = statuses.filter((status) => status === 200);
    expect(refused.length + done.length).toBe(30);
    // On a slow machine some of those that wait are refused, too, after their five seconds.
    expect(refused.length).toBeGreaterThanOrEqual(6);
    expect(done.length).toBeGreaterThanOrEqual(4);
    expect(most).toBe(4);
  });
});
