import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const PER_MINUTE = 5;

let test: TestGateway;

beforeAll(async () => {
  // Nobody listens where webhooks go: what is let in is answered 503.
  test = await startTestGateway({ rateLimits: { inbound: PER_MINUTE }, trustedProxies: 1 });
});
afterAll(() => test.close());

const postFrom = (address: string) =>
  call(test, "POST", "/webhooks/stripe", {
    key: null,
    body: "{}",
    headers: { "x-forwarded-for": address },
  });

async function statusesFrom(...addresses: string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const address of addresses) statuses.push((await postFrom(address)).status);
  return statuses;
}

describe("the limit of inbound webhooks", () => {
  it("lets a client have as many a minute as it says, and says when there is room again", async () => {
    const one = "198.51.100.7";
    expect(await statusesFrom(one, one, one, one, one)).toEqual([503, 503, 503, 503, 503]);
    const refused = await postFrom(one);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: "Rate limit exceeded. Limit: 5 requests per minute." },
    });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(refused.headers.get("x-request-id")).not.toBeNull();
    expect(await statusesFrom("198.51.100.8")).toEqual([503]);
  });

  it("counts the addresses that one customer of a provider has as one client", async () => {
    const own = [
      "2001:db8::1",
      "2001:db8::2",
      "2001:db8::ffff:0:0:1",
      "2001:db8::4",
      "2001:db8::5",
    ];
    expect(await statusesFrom(...own)).toEqual([503, 503, 503, 503, 503]);
    expect(await statusesFrom("2001:db8::6", "2001:db8:0:1::1")).toEqual([429, 503]);
  });
});
