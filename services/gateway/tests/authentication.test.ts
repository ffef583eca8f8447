import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { toAppError } from "@workflow/errors";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createApiKey, createCompany } from "../src/admin/index.ts";
import { generateApiKey, hashApiKey } from "../src/auth/api-key-format.ts";
import { createAuthenticator } from "../src/auth/authenticator.ts";
import { makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

describe("authentication", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    test.backends.workflows.getWorkflow = async () => makeWorkflow();
  });

  const path = `/api/v1/workflows/${WORKFLOW_ID}`;

  it.each([
    ["no key", null],
    ["an empty key", ""],
    ["a malformed key", "wfk_short"],
    ["an unknown key", `wfk_${"A".repeat(32)}`],
    ["a key with a byte more", `wfk_${"A".repeat(33)}`],
  ])("refuses %s with 401", async (_what, key) => {
    const answer = await call(test, "GET", path, { key });
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ success: false, error: { code: "UNAUTHORIZED" } });
  });

  it("hands the caller's company, key and scopes on to the services, and nothing of the request", async () => {
    await call(test, "GET", path, { headers: { "x-request-id": "req-1", "x-company": "other" } });
    const { context } = test.backends.calls.at(-1) ?? {};
    expect(context?.identity).toMatchObject({
      companyId: test.company.companyId,
      principal: { type: "api_key" },
      scopes: expect.arrayContaining(["workflows:read", "audit:read"]),
    });
    expect(context?.requestId).toBe("req-1");
  });

  it("refuses a revoked key within five seconds of the revocation", async () => {
    const { id, key } = await createApiKey(test.database, {
      companyId: test.company.companyId,
      name: "short-lived",
      scopes: ["workflows:read"],
    });
    expect((await call(test, "GET", path, { key })).status).toBe(200);
    await test.database.query(
      sql.type(z.object({}))`update gateway.api_keys set revoked_at = now() where id = ${id}`,
    );
    await waitFor(async () => (await call(test, "GET", path, { key })).status === 401, {
      timeoutMs: 60_000,
    });
  });

  it("refuses a key from the moment at which it expires, though it was used just before", async () => {
    const expiresAt = new Date(Date.now() + 400);
    const { key } = await createApiKey(test.database, {
      companyId: test.company.companyId,
      name: "expiring",
      scopes: ["workflows:read"],
      expiresAt,
    });
    await waitFor(async () => (await call(test, "GET", path, { key })).status === 401);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt.getTime());
  });

  it("refuses what the key has no scope for, before the body is looked at", async () => {
    const { key } = await createApiKey(test.database, {
      companyId: test.company.companyId,
      name: "reader",
      scopes: ["workflows:read"],
    });
    const answer = await call(test, "POST", "/api/v1/workflows", { key, body: "{" });
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      error: { code: "FORBIDDEN", message: expect.stringContaining("workflows:write") },
    });
  });

  it("looks its own questions up for keys that may not ask them themselves", async () => {
    const { key } = await createApiKey(test.database, {
      companyId: test.company.companyId,
      name: "runs only",
      scopes: ["runs:read"],
    });
    test.backends.runs.listRuns = async () => ({ runs: [], page: undefined });
    const answer = await call(test, "GET", `${path}/runs`, { key });
    expect(answer.status).toBe(200);
    expect((await call(test, "GET", path, { key })).status).toBe(403);
  });

  it("records when a key was last used", async () => {
    const { id, key } = await createApiKey(test.database, {
      companyId: test.company.companyId,
      name: "used",
      scopes: ["workflows:read"],
    });
    await call(test, "GET", path, { key });
    const lastUsed = sql.type(z.object({ usedAt: z.date().nullable() }))`
      select last_used_at as "usedAt" from gateway.api_keys where id = ${id}
    `;
    await waitFor(async () => (await test.database.one(lastUsed)).usedAt !== null);
  });

  it("knows 10,000 keys in turn, each by its own name", async () => {
    const count = 10_000;
    const keys = Array.from({ length: count }, generateApiKey);
    // More than a company can have by asking for them.
    const { companyId } = await createCompany(test.database, {
      name: "Crowded",
      email: "owner@crowded.example",
      password: "correct horse",
    });
    await test.database.query(sql.type(z.object({}))`
      insert into gateway.api_keys (id, company_id, name, key_hash, key_prefix, scopes)
      select gen_random_uuid(), ${companyId}, k.name, k.hash, 'wfk_', '{workflows:read}'
      from unnest(
        ${sql.array(
          keys.map((key) => key.slice(-6)),
          "text",
        )},
        ${sql.array(keys.map(hashApiKey), "bytea")}
      ) as k (name, hash)
    `);
    const authenticator = createAuthenticator({
      database: test.database,
      onKeyUse: () => {},
      onSessionUse: () => {},
      toAppError,
    });
    let next = 0;
    const wrong: string[] = [];
    const work = async (): Promise<void> => {
      for (let key = keys[next++]; key !== undefined; key = keys[next++]) {
        const { identity } = await authenticator.authenticate({
          apiKey: key,
          sessionToken: undefined,
        });
        if (identity.principal.name !== key.slice(-6)) wrong.push(key);
      }
    };
    await Promise.all(Array.from({ length: 16 }, work));
    expect(wrong).toEqual([]);
  });

  it("keeps the companies of two keys apart under parallel load", async () => {
    const other = await createCompany(test.database, {
      name: "Other",
      email: "owner@other.example",
      password: "correct horse",
    });
    test.backends.workflows.getWorkflow = async (_request, { identity }) =>
      makeWorkflow({ name: identity.companyId });
    const companies = [test.company, other];
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const company = companies[index % 2];
        const { body } = await call(test, "GET", path, { key: company?.apiKey ?? null });
        return { body, companyId: company?.companyId };
      }),
    );
    for (const { body, companyId } of answers) {
      expect(body).toMatchObject({ data: { name: companyId } });
    }
  });
});
