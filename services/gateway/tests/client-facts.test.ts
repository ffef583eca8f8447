import { afterEach, describe, expect, it } from "@jest/globals";
import { WORKFLOW_ID } from "./support/messages.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

let gateway: TestGateway;
afterEach(() => gateway.close());

/** What a service hears of the client that sends these headers. */
async function heard(headers: Record<string, string>): Promise<unknown> {
  await call(gateway, "GET", `/api/v1/workflows/${WORKFLOW_ID}`, { headers });
  return gateway.backends.calls.at(-1)?.context.client;
}

describe("the client's address and program, as services hear of them", () => {
  it("are those of the connection, whatever X-Forwarded-For says, without a proxy", async () => {
    gateway = await startTestGateway();
    expect(await heard({ "user-agent": "curl/8", "x-forwarded-for": "198.51.100.7" })).toEqual({
      ipAddress: "127.0.0.1",
      userAgent: "curl/8",
    });
  });

  it("are those that the outermost of the trusted proxies saw", async () => {
    gateway = await startTestGateway({ trustedProxies: 2 });
    const seen = async (forwardedFor: string) =>
      heard({ "user-agent": "curl/8", "x-forwarded-for": forwardedFor });
    for (const [header, ipAddress] of [
      ["10.0.0.66, 198.51.100.7, 10.0.0.1", "198.51.100.7"],
      ["198.51.100.7,10.0.0.1", "198.51.100.7"],
      // By a shorter way, past one of the proxies.
      ["198.51.100.7", "198.51.100.7"],
      ["made up, 2001:DB8::1, 10.0.0.1", "2001:db8::1"],
      ["198.51.100.7, not an address, 10.0.0.1", "127.0.0.1"],
      ["", "127.0.0.1"],
    ]) {
      expect(await seen(header ?? "")).toEqual({ ipAddress, userAgent: "curl/8" });
    }
  });
});
