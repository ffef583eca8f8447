import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { createInStatus, createWorkflow } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import {
  secretSchema,
  postSecret,
  putSecret,
  removeSecret,
  listSecrets,
} from "../support/secrets.ts";

let testDatabase: TestDatabase;
let database: Database;
let system: WholeSystem;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const databaseUrl = testDatabase.connectionUri;
  database = await openDatabase({ connectionUri: databaseUrl, applicationName: "test" });
  system = await startWholeSystem({ databaseUrl });
});
afterAll(async () => {
  await system.stop();
  await database.end();
  await testDatabase.close();
});

const newWorkflow = async () => (await createWorkflow(system)).id;

/** The number of stored secrets of a workflow. */
async function countStored(workflowId: string): Promise<number> {
  const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from integrations.secrets where workflow_id = ${workflowId}
  `);
  return count;
}

describe("POST /workflows/{workflowId}/secrets", () => {
  it("answers 200 with the record, which never holds the value", async () => {
    const workflowId = await newWorkflow();
    const answer = await postSecret(system, workflowId, {
      key: "API_TOKEN",
      value: "correct horse battery",
    });
    expect(answer).toMatchObject({ status: 200, error: undefined });
    const secret = secretSchema.parse(answer.data);
    expect(secret).toMatchObject({
      workflowId,
      key: "API_TOKEN",
      maskedValue: "••••tery",
      lastUsedAt: null,
      updatedAt: secret.createdAt,
    });
    expect(answer.text).not.toContain("correct horse");
    expect(await listSecrets(system, workflowId)).toEqual([secret]);
  });

  it.each([
    ["1 character", "x", "••••"],
    ["4 characters", "abcd", "••••"],
    ["5 characters", "abcde", "••••bcde"],
    ["8,192 characters", `${"a".repeat(8_188)}WXYZ`, "••••WXYZ"],
    ["4 emoji", "🔑🔑🔑🔑", "••••"],
    ["5 emoji", "🔑🔒🔓🔐🎉", "••••🔒🔓🔐🎉"],
    ["8,192 emoji", "🔑".repeat(8_192), "••••🔑🔑🔑🔑"],
  ])("masks a value of %s", async (_what, value, maskedValue) => {
    const answer = await postSecret(system, await newWorkflow(), { key: "K", value });
    expect(answer).toMatchObject({ status: 200, data: { maskedValue } });
  });

  it.each([
    ["no key", { value: "x" }, ["key"]],
    ["an empty key", { key: "", value: "x" }, ["key"]],
    ["a lower-case key", { key: "token", value: "x" }, ["key"]],
    ["a key that starts with a digit", { key: "1A", value: "x" }, ["key"]],
    ["a key of 65 characters", { key: "A".repeat(65), value: "x" }, ["key"]],
    ["a key that is a number", { key: 5, value: "x" }, ["key"]],
    ["a key that is null", { key: null, value: "x" }, ["key"]],
    ["no value", { key: "A" }, ["value"]],
    ["an empty value", { key: "A", value: "" }, ["value"]],
    ["a value of 8,193 characters", { key: "A", value: "v".repeat(8_193) }, ["value"]],
    ["a value that is an object", { key: "A", value: { hidden: "text" } }, ["value"]],
    ["neither", {}, ["key", "value"]],
  ])("refuses %s with VALIDATION_ERROR and the field's path", async (_what, body, fields) => {
    const workflowId = await newWorkflow();
    const answer = await postSecret(system, workflowId, body);
    expect(answer).toMatchObject({
      status: 400,
      error: {
        code: "VALIDATION_ERROR",
        details: fields.map((field) => ({ path: [field], message: expect.any(String) })),
      },
    });
    expect(await listSecrets(system, workflowId)).toEqual([]);
  });

  it("says 400 about the body before it says 404 about the workflow", async () => {
    const answer = await postSecret(system, "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a", {
      key: "a",
      value: "",
    });
    expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
  });

  it("does not repeat a refused value in its answer", async () => {
    const value = "hush ".repeat(2_000);
    expect((await postSecret(system, await newWorkflow(), { key: "A", value })).text).not.toContain(
      "hush",
    );
    const escaped = await system.call("POST", `/workflows/${await newWorkflow()}/secrets`, {
      raw: String.raw`{"key": "A", "value": "hush\u0000"}`,
    });
    expect(escaped).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(escaped.text).not.toContain("hush");
  });

  it("answers 409 CONFLICT when the key exists, and to all but one of those that race", async () => {
    const workflowId = await newWorkflow();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        postSecret(system, workflowId, { key: "A", value: `value ${n}` }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(await postSecret(system, workflowId, { key: "A", value: "again" })).toMatchObject({
      status: 409,
      error: { code: "CONFLICT" },
    });
  });

  it("ignores fields that callers must not set", async () => {
    const workflowId = await newWorkflow();
    const answer = await postSecret(system, workflowId, {
      key: "A",
      value: "value",
      id: "x",
      companyId: system.globex.id,
      maskedValue: "shown",
      workflowId: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a",
    });
    expect(answer).toMatchObject({ status: 200, data: { workflowId, maskedValue: "••••alue" } });
  });
});

describe("GET /workflows/{workflowId}/secrets", () => {
  it("is ordered by key", async () => {
    const workflowId = await newWorkflow();
    for (const key of ["B", "AB", "A_", "A"])
      await postSecret(system, workflowId, { key, value: "value" });
    expect((await listSecrets(system, workflowId)).map(({ key }) => key)).toEqual([
      "A",
      "AB",
      "A_",
      "B",
    ]);
  });
});

describe("PUT /workflows/{workflowId}/secrets/{key}", () => {
  it("answers with the record as it is now", async () => {
    const workflowId = await newWorkflow();
    const created = secretSchema.parse(
      (await postSecret(system, workflowId, { key: "A", value: "old" })).data,
    );
    const answer = await putSecret(system, workflowId, "A", { value: "another value", key: "B" });
    expect(answer).toMatchObject({ status: 200, error: undefined });
    const secret = secretSchema.parse(answer.data);
    expect(secret).toEqual({
      ...created,
      maskedValue: "••••alue",
      updatedAt: secret.updatedAt,
    });
    expect(secret.updatedAt >= created.updatedAt).toBe(true);
    expect(await listSecrets(system, workflowId)).toEqual([secret]);
  });

  it.each([
    ["no value", {}],
    ["an empty one", { value: "" }],
    ["a number", { value: 5 }],
    ["null", { value: null }],
    ["8,193 characters", { value: "v".repeat(8_193) }],
  ])("refuses %s with VALIDATION_ERROR", async (_what, body) => {
    const workflowId = await newWorkflow();
    await postSecret(system, workflowId, { key: "A", value: "value" });
    expect(await putSecret(system, workflowId, "A", body)).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR", details: [{ path: ["value"] }] },
    });
  });
});

describe("DELETE /workflows/{workflowId}/secrets/{key}", () => {
  it("answers {deleted: true}, then 404", async () => {
    const workflowId = await newWorkflow();
    await postSecret(system, workflowId, { key: "A", value: "value" });
    expect(await removeSecret(system, workflowId, "A")).toMatchObject({
      status: 200,
      data: { deleted: true },
    });
    expect(await listSecrets(system, workflowId)).toEqual([]);
    expect(await removeSecret(system, workflowId, "A")).toMatchObject({ status: 404 });
  });
});

describe("a key in the path", () => {
  it.each(["NOT_THERE", "token", "1A", "A-B", "A".repeat(65), "%20", "a%2Fb", "__proto__"])(
    "that names no secret is answered 404: %s",
    async (key) => {
      const workflowId = await newWorkflow();
      const replaced = await putSecret(system, workflowId, key, { value: "value" });
      expect(replaced).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
      expect(await removeSecret(system, workflowId, key)).toMatchObject({ status: 404 });
    },
  );
});

describe("an archived workflow", () => {
  it("has no secrets, takes none and finds none", async () => {
    const workflowId = await newWorkflow();
    await postSecret(system, workflowId, { key: "A", value: "value" });
    expect(await system.call("DELETE", `/workflows/${workflowId}`)).toMatchObject({ status: 200 });
    expect(await listSecrets(system, workflowId)).toEqual([]);
    const created = await postSecret(system, workflowId, { key: "B", value: "value" });
    expect(created).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    expect(created.error?.message).toContain("archived");
    expect(await putSecret(system, workflowId, "A", { value: "value" })).toMatchObject({
      status: 404,
    });
    expect(await removeSecret(system, workflowId, "A")).toMatchObject({ status: 404 });
    await waitFor(async () => (await countStored(workflowId)) === 0);
  });

  it.each(["draft", "active", "paused"] as const)("is unlike one that is %s", async (status) => {
    const workflowId = await createInStatus(system, status);
    expect(await postSecret(system, workflowId, { key: "A", value: "value" })).toMatchObject({
      status: 200,
    });
    expect(await listSecrets(system, workflowId)).toHaveLength(1);
  });

  it("keeps no secret that was stored while it was being archived", async () => {
    const workflowId = await newWorkflow();
    await Promise.all([
      ...Array.from({ length: 8 }, (_, n) =>
        postSecret(system, workflowId, { key: `K${n}`, value: "value" }),
      ),
      system.call("DELETE", `/workflows/${workflowId}`),
    ]);
    await waitFor(async () => (await countStored(workflowId)) === 0);
  });
});

describe("another company", () => {
  it("finds neither workflow nor secret, and may use the same key itself", async () => {
    const workflowId = await newWorkflow();
    await postSecret(system, workflowId, { key: "A", value: "the owner's" });
    const asStranger = { key: system.globex.key };
    const path = `/workflows/${workflowId}/secrets`;
    const body = { value: "taken over" };
    for (const answer of [
      await system.call("GET", path, asStranger),
      await postSecret(system, workflowId, { key: "B", value: "x" }, system.globex.key),
      await system.call("PUT", `${path}/A`, { ...asStranger, body }),
      await system.call("DELETE", `${path}/A`, asStranger),
    ]) {
      expect(answer).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
    }
    expect(await listSecrets(system, workflowId)).toMatchObject([
      { key: "A", maskedValue: "••••er's" },
    ]);
  });
});

describe("scopes", () => {
  it("of secrets are enough by themselves; reading does not write, nor writing read", async () => {
    const workflowId = await newWorkflow();
    const reader = await system.createKey(system.acme, ["secrets:read"]);
    const writer = await system.createKey(system.acme, ["secrets:write"]);
    const path = `/workflows/${workflowId}/secrets`;
    expect(await postSecret(system, workflowId, { key: "A", value: "x" }, reader)).toMatchObject({
      status: 403,
    });
    expect(await postSecret(system, workflowId, { key: "A", value: "x" }, writer)).toMatchObject({
      status: 200,
    });
    expect(await system.call("GET", path, { key: writer })).toMatchObject({ status: 403 });
    expect(await system.call("GET", path, { key: reader })).toMatchObject({ status: 200 });
    expect(await system.call("DELETE", `${path}/A`, { key: writer })).toMatchObject({
      status: 200,
    });
  });
});
