import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { SlidingWindows } from "../src/inbound/sliding-windows.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const PER_MINUTE = 5;

let test: TestGateway;

beforeAll(async () => {
  // Nobody listens where webhooks go: what is let in is answered 503.
  test = await startTestGateway({ inboundPerMinuteMax: PER_MINUTE, trustedProxies: 1 });
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

describe("a sliding window", () => {
  it("has room for so many within any minute, and again as soon as the oldest is a minute old", () => {
    let now = 0;
    const windows = new SlidingWindows({ max: 20, windowMs: 60_000, now: () => now });
    const accepted: number[] = [];
    // One a second for five minutes, whatever is answered.
    for (; now < 300_000; now += 1_000) if (windows.take("a") === null) accepted.push(now);
    for (const [index, at] of accepted.entries()) {
      const next = accepted[index + 20];
      if (next !== undefined) expect(next - at).toBeGreaterThanOrEqual(60_000);
    }
    expect(accepted).toHaveLength(100);
    now = 242_000;
    expect(windows.take("a")).toBe(300_000 - now);
    expect(windows.take("b")).toBeNull();
  });

  it("has no limit when it is 0", () => {
    const windows = new SlidingWindows({ max: 0, windowMs: 60_000 });
    for (let taken = 0; taken < 1_000; taken += 1) expect(windows.take("a")).toBeNull();
  });

  it("forgets clients rather than keep more than its memory", () => {
    let now = 0;
    const windows = new SlidingWindows({ max: 2, windowMs: 60_000, now: () => now });
    windows.take("first");
    windows.take("first");
    expect(windows.take("first")).not.toBeNull();
    for (let client = 0; client < 200_000; client += 1) windows.take(`client ${client}`);
    expect(windows.take("first")).toBeNull();
    now += 1;
    expect(windows.take("client 199999")).toBeNull();
    expect(windows.take("client 199999")).not.toBeNull();
  });
});
