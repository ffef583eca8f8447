import { afterEach, describe, expect, it } from "@jest/globals";
import { WORKFLOW_ID } from "./support/messages.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

let gateway: TestGateway;
afterEach(() => gateway.close());

/** What a service hears of the client that sends these headers. */
async function heard(headers: Record<string, string>): Promise<unknown> {
  // Reads take no record of who made them, so services of reads hear nothing of the client.
  await call(gateway, "POST", `/api/v1/workflows/${WORKFLOW_ID}/pause`, { headers });
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

  it("are those that the first untrusted of the callers has, where proxies are known by their networks", async () => {
    gateway = await startTestGateway({
      trustedProxies: ["127.0.0.0/8", "10.0.0.0/8", "fd00::/8", "203.0.113.4"],
    });
    for (const [header, ipAddress] of [
      ["198.51.100.7", "198.51.100.7"],
      ["made up, 198.51.100.7", "198.51.100.7"],
      ["203.0.113.9, 198.51.100.7, 10.0.0.1, ::ffff:10.2.3.4", "198.51.100.7"],
      ["2001:DB8::1, fd00::2,203.0.113.4", "2001:db8::1"],
      ["203.0.113.5, 203.0.113.4", "203.0.113.5"],
      // The client itself is in one of those networks.
      ["10.0.0.5, 10.0.0.1", "10.0.0.5"],
      ["198.51.100.7, not an address, 10.0.0.1", "127.0.0.1"],
      ["", "127.0.0.1"],
    ] as const) {
      const facts = await heard({ "user-agent": "curl/8", "x-forwarded-for": header });
      expect([header, facts]).toEqual([header, { ipAddress, userAgent: "curl/8" }]);
    }
  });
});

describe("what a client has called", () => {
  const forwarded = {
    origin: "https://flows.example.com",
    "x-forwarded-for": "198.51.100.7",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "flows.example.com",
  };
  /** A browser may sign in from pages of the server that it has called, and from no others. */
  const signIn = async (headers: Record<string, string>): Promise<unknown> => {
    const body = { email: "owner@acme.example", password: "correct horse" };
    const answer = await call(gateway, "POST", "/api/v1/auth/session", {
      key: null,
      headers,
      body,
    });
    const isSecure = answer.headers.has("strict-transport-security");
    return { status: answer.status, isSecure };
  };

  it("is what a proxy of the trusted networks says", async () => {
    gateway = await startTestGateway({ trustedProxies: ["127.0.0.1"] });
    expect(await signIn(forwarded)).toEqual({ status: 200, isSecure: true });
    const spoofed = { ...forwarded, "x-forwarded-proto": "https, http" };
    expect(await signIn(spoofed)).toEqual({ status: 403, isSecure: false });
  });

  it("is what the request itself says, when it comes from anywhere else", async () => {
    gateway = await startTestGateway({ trustedProxies: ["10.0.0.0/8"] });
    expect(await signIn(forwarded)).toEqual({ status: 403, isSecure: false });
    expect(await signIn({ ...forwarded, origin: gateway.url })).toEqual({
      status: 200,
      isSecure: false,
    });
    const facts = await heard({ "user-agent": "curl/8", "x-forwarded-for": "198.51.100.7" });
    expect(facts).toEqual({ ipAddress: "127.0.0.1", userAgent: "curl/8" });
  });
});
