import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  createApiKey,
  createUser,
  insertPreparedCompany,
  setRateLimits,
} from "../src/admin/index.ts";
import type { Scope } from "../src/admin/index.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { Answer, TestGateway } from "./support/gateway.ts";

const LIMITS = { read: 5, write: 3, execute: 2 };
const COMPANY_FACTOR = 2;

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway({
    rateLimits: { limits: LIMITS, companyFactor: COMPANY_FACTOR },
  });
});
afterAll(() => test.close());

async function newKey(
  companyId = test.company.companyId,
  scopes: Scope[] = ["workflows:read", "workflows:write", "api_keys:read"],
): Promise<string> {
  const { key } = await createApiKey(test.database, { companyId, name: "Test", scopes });
  return key;
}

let companies = 0;
/** So that no test uses up what another one's company has. Nobody can sign in. */
async function newCompany() {
  companies += 1;
  const prepared = { name: "Limits", email: `owner${companies}@limits.example`, passwordHash: "-" };
  return test.database.transaction((transaction) => insertPreparedCompany(transaction, prepared));
}

const read = (key: string, method = "GET"): Promise<Answer> =>
  call(test, method, "/api/v1/blocks", { key });

async function statuses(count: number, ask: () => Promise<Answer>): Promise<number[]> {
  const found: number[] = [];
  for (let turn = 0; turn < count; turn += 1) found.push((await ask()).status);
  return found;
}

function limitHeaders({ headers }: Answer) {
  const names = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
  ];
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]));
}

describe("a caller's rate limit", () => {
  it("lets as many through in a minute as it says, and tells in each answer what is left", async () => {
    const { apiKey: key } = await newCompany();
    const now = Date.now() / 1000;
    const first = limitHeaders(await read(key));
    expect(first).toEqual({
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "4",
      "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/),
      ratelimit: '"read";r=4;t=60',
      "ratelimit-policy": '"read";q=5;w=60',
      "retry-after": null,
    });
    const reset = Number(first["x-ratelimit-reset"]);
    expect(reset).toBeGreaterThanOrEqual(now + 59);
    expect(reset).toBeLessThanOrEqual(now + 90);
    expect(await statuses(4, () => read(key))).toEqual([200, 200, 200, 200]);
    const refused = await read(key);
    expect(refused).toMatchObject({
      status: 429,
      body: {
        success: false,
        error: {
          code: "RATE_LIMITED",
          message: "Rate limit exceeded. Limit: 5 requests per minute.",
          requestId: refused.headers.get("x-request-id"),
        },
      },
    });
    expect(refused.body).not.toHaveProperty("error.details");
    const headers = limitHeaders(refused);
    expect(headers).toMatchObject({ "x-ratelimit-remaining": "0", "x-ratelimit-limit": "5" });
    const seconds = Number(headers["retry-after"]);
    expect(seconds).toBeGreaterThan(30);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(headers["ratelimit"]).toBe(`"read";r=0;t=${seconds}`);
    expect(headers["x-ratelimit-reset"]).toBe(first["x-ratelimit-reset"]);
  });

  it("has a bucket for reads, HEAD included, one for writes and one for what starts runs", async () => {
    const { apiKey: key } = await newCompany();
    expect(await statuses(6, () => read(key, "HEAD"))).toEqual([200, 200, 200, 200, 200, 429]);
    const remove = () => call(test, "DELETE", "/api/v1/auth/api-keys/x", { key });
    expect(await statuses(4, remove)).toEqual([404, 404, 404, 429]);
    const run = () => call(test, "POST", "/api/v1/workflows/x/run", { key, body: "[]" });
    expect(await statuses(3, run)).toEqual([400, 400, 429]);
    expect(limitHeaders(await run())).toMatchObject({
      "x-ratelimit-limit": "2",
      "ratelimit-policy": '"execute";q=2;w=60',
    });
  });

  it("is judged after the credential and before the scope, and counts whatever comes after", async () => {
    const { companyId } = await newCompany();
    const key = await newKey(companyId, ["runs:read"]);
    const ask = () => call(test, "GET", "/api/v1/auth/api-keys", { key });
    const first = await ask();
    expect(first.status).toBe(403);
    expect(limitHeaders(first)).toMatchObject({ "x-ratelimit-remaining": "4" });
    expect(await statuses(5, ask)).toEqual([403, 403, 403, 403, 429]);
    const unknown = await call(test, "GET", "/api/v1/auth/api-keys", { key: "wfk_unknown" });
    expect(unknown.status).toBe(401);
    expect(Object.values(limitHeaders(unknown))).toEqual(Array(6).fill(null));
    // A path that cannot be read is judged before the route is known.
    const unreadable = () => call(test, "GET", "/api/v1/workflows/%E0%A4%A", { key });
    expect((await unreadable()).status).toBe(429);
    const missing = await call(test, "GET", "/api/v1/nothing", { key });
    expect([missing.status, missing.headers.get("x-ratelimit-limit")]).toEqual([404, null]);
  });

  it("counts each key by itself, and what is refused not at all", async () => {
    const { companyId } = await newCompany();
    const [one, two] = [await newKey(companyId), await newKey(companyId)];
    expect(await statuses(20, () => read(one))).toEqual([
      ...Array<number>(5).fill(200),
      ...Array<number>(15).fill(429),
    ]);
    // The company has had 5 of its 10.
    expect(await statuses(6, () => read(two))).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it("holds for all keys of a company together, and leaves other companies alone", async () => {
    const { companyId } = await newCompany();
    const keys = await Promise.all(Array.from({ length: 4 }, () => newKey(companyId)));
    for (const key of keys.slice(0, 2)) {
      expect(await statuses(5, () => read(key))).toEqual(Array(5).fill(200));
    }
    const refused = await read(keys[2] ?? "");
    expect(refused).toMatchObject({
      status: 429,
      body: {
        error: {
          code: "RATE_LIMITED",
          message: "Rate limit exceeded. Limit: 10 requests per minute.",
          details: { limit: "company" },
        },
      },
    });
    // The headers are about the key, which has had nothing.
    expect(limitHeaders(refused)).toMatchObject({
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "5",
      "retry-after": expect.stringMatching(/^\d\d$/),
    });
    const { apiKey } = await newCompany();
    expect((await read(apiKey)).status).toBe(200);
    const metrics = await test.registry.metrics();
    expect(metrics).toMatch(/gateway_rate_limited_total\{bucket="read",of="company"\} \d+/);
  });

  it("is one for all sessions of a person in a company, and none of other people's", async () => {
    const { companyId } = test.company;
    const email = "owner@acme.example";
    const colleague = { email: "colleague@acme.example", password: "correct horse" };
    await createUser(test.database, { companyId, role: "viewer", ...colleague });
    const signIn = async (address: string): Promise<Record<string, string>> => {
      const body = { email: address, password: "correct horse" };
      const answer = await call(test, "POST", "/api/v1/auth/session", { key: null, body });
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
      return { cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" };
    };
    const [first, second] = [await signIn(email), await signIn(email)];
    const look = (headers: Record<string, string>) => () =>
      call(test, "GET", "/api/v1/auth/session", { key: null, headers });
    expect(await statuses(3, look(first))).toEqual([200, 200, 200]);
    expect(await statuses(3, look(second))).toEqual([200, 200, 429]);
    expect((await look(await signIn(colleague.email))()).status).toBe(200);
  });
});

describe("the limits of one company", () => {
  it("are set by an operator, hold at once for all its keys, and go back to the settings", async () => {
    const { companyId, apiKey: key } = await newCompany();
    expect(await statuses(6, () => read(key))).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await setRateLimits(test.database, { companyId, read: 7 })).toEqual({
      read: 7,
      write: null,
      execute: null,
    });
    await waitFor(async () => (await read(key)).headers.get("x-ratelimit-limit") === "7");
    const message = "Rate limit exceeded. Limit: 7 requests per minute.";
    await waitFor(async () => (await read(key)).text.includes(message));
    await setRateLimits(test.database, { companyId, read: 0, write: 1 });
    await waitFor(async () => (await read(key)).status === 200);
    const unlimited = await read(key);
    expect(Object.values(limitHeaders(unlimited))).toEqual(Array(6).fill(null));
    expect(await setRateLimits(test.database, { companyId, read: null })).toEqual({
      read: null,
      write: 1,
      execute: null,
    });
    await waitFor(async () => (await read(key)).status === 429);
    const { apiKey } = await newCompany();
    expect((await read(apiKey)).headers.get("x-ratelimit-limit")).toBe("5");
  });

  it("are refused with the field when they are none, and for companies that do not exist", async () => {
    const { companyId } = test.company;
    await expect(setRateLimits(test.database, { companyId, write: -1 })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["write"] }],
    });
    await expect(
      setRateLimits(test.database, { companyId: "acme", read: 7 }),
    ).rejects.toMatchObject({
      violations: [{ path: ["companyId"], message: "must be the id of a company" }],
    });
    // Else the audit log would tell of a change that is none.
    await expect(setRateLimits(test.database, { companyId })).rejects.toMatchObject({
      violations: [{ path: ["limits"] }],
    });
    const nobody = "00000000-0000-7000-8000-000000000000";
    await expect(
      setRateLimits(test.database, { companyId: nobody, read: 7 }),
    ).rejects.toMatchObject({
      reason: "NOT_FOUND",
    });
  });
});
