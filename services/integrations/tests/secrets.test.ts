import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

/** A secret of a new workflow. */
async function create(identity: Identity, fields: { key?: string; value?: string } = {}) {
  const { key = "TOKEN", value = "correct horse" } = fields;
  const workflowId = newUuid();
  const secret = await harness.client.createSecret({ workflowId, key, value }, { identity });
  return { workflowId, secret };
}

async function resolve(identity: Identity, workflowId: string, keys: string[]) {
  return (await harness.client.resolveSecrets({ workflowId, keys }, { identity })).values;
}

describe("CreateSecret", () => {
  it("answers with the secret, without its value", async () => {
    const identity = newIdentity();
    const { workflowId, secret } = await create(identity);
    expect(secret).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      workflowId,
      key: "TOKEN",
      maskedValue: "••••orse",
      lastUsedAt: undefined,
      createdAt: expect.any(Date),
      updatedAt: secret.createdAt,
    });
  });

  it.each([
    ["one character", "x", "••••"],
    ["four characters", "abcd", "••••"],
    ["five characters", "abcde", "••••bcde"],
    ["four emoji of two units each", "🔑🔑🔑🔑", "••••"],
    ["five emoji", "🔑🔒🔓🔐🗝", "••••🔒🔓🔐🗝"],
    ["the longest text", `${"a".repeat(8_188)}WXYZ`, "••••WXYZ"],
    ["8,192 emoji", "🔑".repeat(8_192), "••••🔑🔑🔑🔑"],
    ["lines and blanks", " a\r\nb\t\n", "••••\nb\t\n"],
  ])("takes %s, and gives it back as it was", async (_what, value, masked) => {
    const identity = newIdentity();
    const { workflowId, secret } = await create(identity, { value });
    expect(secret.maskedValue).toBe(masked);
    expect(await resolve(identity, workflowId, ["TOKEN"])).toEqual({ TOKEN: value });
  });

  it.each([
    ["an empty key", { key: "" }, ["key"]],
    ["a lower-case key", { key: "token" }, ["key"]],
    ["a key that starts with a digit", { key: "1TOKEN" }, ["key"]],
    ["a key that starts with an underscore", { key: "_TOKEN" }, ["key"]],
    ["a key with a dash", { key: "API-TOKEN" }, ["key"]],
    ["a key with a line end", { key: "TOKEN\n" }, ["key"]],
    ["a key with a letter beyond ASCII", { key: "TÖKEN" }, ["key"]],
    ["a key of 65 characters", { key: "A".repeat(65) }, ["key"]],
    ["an empty value", { value: "" }, ["value"]],
    ["a value of 8,193 characters", { value: "a".repeat(8_193) }, ["value"]],
    ["a value of 8,193 emoji", { value: "🔑".repeat(8_193) }, ["value"]],
    ["a value with NUL", { value: "a\0b" }, ["value"]],
    ["a wrong key and a wrong value", { key: "a", value: "" }, ["key", "value"]],
  ])("refuses %s", async (_what, fields, paths) => {
    const error = await errorOf(create(newIdentity(), fields));
    expect(error.reason).toBe("VALIDATION_ERROR");
    expect(error.violations.flatMap(({ path }) => path)).toEqual(paths);
  });

  it("takes a key of 64 characters", async () => {
    const key = `A${"_9".repeat(31)}Z`;
    expect((await create(newIdentity(), { key })).secret.key).toBe(key);
  });

  it("refuses a key that exists and leaves its value alone, but takes it for another workflow", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity, { value: "first" });
    const again = { workflowId, key: "TOKEN", value: "second" };
    expect((await errorOf(harness.client.createSecret(again, { identity }))).reason).toBe(
      "CONFLICT",
    );
    expect(await resolve(identity, workflowId, ["TOKEN"])).toEqual({ TOKEN: "first" });
    await create(identity, { value: "other" });
  });

  it("takes one of many that come at once for the same key", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        harness.client.createSecret(
          { workflowId, key: "TOKEN", value: `value ${index}` },
          { identity },
        ),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason.reason).toBe("CONFLICT");
    }
  });

  it.each(["no-uuid", "", "run_01jzsa0pjtf9d8m9d8m9d8m9d8"])(
    "finds no workflow by the id %p",
    async (workflowId) => {
      const identity = newIdentity();
      const request = { workflowId, key: "TOKEN", value: "x" };
      const error = await errorOf(harness.client.createSecret(request, { identity }));
      expect(error.reason).toBe("NOT_FOUND");
    },
  );

  it("takes an id in upper case for the same workflow", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    expect(await resolve(identity, workflowId.toUpperCase(), ["TOKEN"])).toEqual({
      TOKEN: "correct horse",
    });
  });
});

describe("ListSecrets", () => {
  it("lists the workflow's secrets by key", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    for (const key of ["B", "A_", "AB", "A1", "A"]) {
      await harness.client.createSecret({ workflowId, key, value: "value" }, { identity });
    }
    const { secrets } = await harness.client.listSecrets({ workflowId }, { identity });
    expect(secrets.map(({ key }) => key)).toEqual(["A", "A1", "AB", "A_", "B"]);
    expect(await harness.client.listSecrets({ workflowId: newUuid() }, { identity })).toEqual({
      secrets: [],
    });
  });
});

describe("ReplaceSecret", () => {
  it("gives the secret another value and keeps everything else of it", async () => {
    const identity = newIdentity();
    const { workflowId, secret } = await create(identity, { value: "before" });
    const request = { workflowId, key: "TOKEN", value: "afterwards" };
    const replaced = await harness.client.replaceSecret(request, { identity });
    expect(replaced).toEqual({
      ...secret,
      maskedValue: "••••ards",
      updatedAt: expect.any(Date),
    });
    expect(Number(replaced.updatedAt)).toBeGreaterThanOrEqual(Number(secret.updatedAt));
    expect(await resolve(identity, workflowId, ["TOKEN"])).toEqual({ TOKEN: "afterwards" });
  });

  it("finds no secret under an unknown key or one of the wrong form", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    for (const key of ["OTHER", "token", "", "TOKEN\n"]) {
      const request = { workflowId, key, value: "value" };
      const error = await errorOf(harness.client.replaceSecret(request, { identity }));
      expect(error).toMatchObject({ reason: "NOT_FOUND", message: "Secret not found" });
    }
  });

  it("refuses a wrong value", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    const request = { workflowId, key: "TOKEN", value: "" };
    const error = await errorOf(harness.client.replaceSecret(request, { identity }));
    expect(error).toMatchObject({ reason: "VALIDATION_ERROR", violations: [{ path: ["value"] }] });
  });

  it("leaves one whole value behind when many replace at once", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    const values = Array.from({ length: 20 }, (_, index) => `value ${index}`);
    await Promise.all(
      values.map((value) =>
        harness.client.replaceSecret({ workflowId, key: "TOKEN", value }, { identity }),
      ),
    );
    const { TOKEN = "" } = await resolve(identity, workflowId, ["TOKEN"]);
    expect(values).toContain(TOKEN);
    const { secrets } = await harness.client.listSecrets({ workflowId }, { identity });
    expect(secrets[0]?.maskedValue).toBe(`••••${TOKEN.slice(-4)}`);
  });
});

describe("DeleteSecret", () => {
  it("deletes once; the key is free again", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    const request = { workflowId, key: "TOKEN" };
    expect(await harness.client.deleteSecret(request, { identity })).toEqual({});
    expect(await resolve(identity, workflowId, ["TOKEN"])).toEqual({});
    const error = await errorOf(harness.client.deleteSecret(request, { identity }));
    expect(error).toMatchObject({ reason: "NOT_FOUND", message: "Secret not found" });
    await harness.client.createSecret({ ...request, value: "again" }, { identity });
    expect(await resolve(identity, workflowId, ["TOKEN"])).toEqual({ TOKEN: "again" });
  });
});

describe("ResolveSecrets", () => {
  it("leaves out keys that do not exist or cannot", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    const keys = ["TOKEN", "OTHER", "TOKEN", "__proto__", "constructor", "", "a\0b"];
    expect(await resolve(identity, workflowId, keys)).toEqual({ TOKEN: "correct horse" });
  });

  it.each([
    ["no key", 0],
    ["201 keys", 201],
  ])("refuses %s", async (_what, length) => {
    const keys = Array.from({ length }, (_, index) => `KEY_${index}`);
    const error = await errorOf(resolve(newIdentity(), newUuid(), keys));
    expect(error).toMatchObject({ reason: "BAD_REQUEST", violations: [{ path: ["keys"] }] });
  });

  it("hands out 200 of the longest values in one call", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    const value = "🔑".repeat(8_192);
    const keys = Array.from({ length: 200 }, (_, index) => `KEY_${index}`);
    // Secrets of one workflow are made one after the other, each within its caller's time.
    for (let from = 0; from < keys.length; from += 20) {
      await Promise.all(
        keys
          .slice(from, from + 20)
          .map((key) => harness.client.createSecret({ workflowId, key, value }, { identity })),
      );
    }
    const values = await resolve(identity, workflowId, keys);
    expect(Object.keys(values).toSorted()).toEqual(keys.toSorted());
    expect(Object.values(values).every((each) => each === value)).toBe(true);
  });

  it("writes down the use within seconds, and at the latest when the service stops", async () => {
    const identity = newIdentity();
    const { workflowId } = await create(identity);
    await harness.client.createSecret({ workflowId, key: "IDLE", value: "x" }, { identity });
    const lastUses = async () => {
      const { secrets } = await harness.client.listSecrets({ workflowId }, { identity });
      return secrets.map(({ lastUsedAt }) => lastUsedAt);
    };
    expect(await lastUses()).toEqual([undefined, undefined]);
    await resolve(identity, workflowId, ["TOKEN"]);
    const [, first] = await waitFor(async () => {
      const uses = await lastUses();
      return uses[1] === undefined ? null : uses;
    });
    expect(await lastUses()).toEqual([undefined, first]);

    const other = await harness.start();
    await harness
      .connect(other)
      .resolveSecrets({ workflowId, keys: ["TOKEN", "IDLE"] }, { identity });
    await other.stop();
    const [idle, second] = await lastUses();
    expect(idle).toBeInstanceOf(Date);
    expect(Number(second)).toBeGreaterThan(Number(first));
  });
});

describe("access", () => {
  it("is refused without the scope of the method", async () => {
    const workflowId = newUuid();
    const reader = newIdentity(["secrets:read", "workflows:read"]);
    const writer = newIdentity(["secrets:write", "workflows:write"]);
    const { client } = harness;
    const secret = { workflowId, key: "TOKEN", value: "value" };
    const calls = [
      client.listSecrets({ workflowId }, { identity: writer }),
      client.createSecret(secret, { identity: reader }),
      client.replaceSecret(secret, { identity: reader }),
      client.deleteSecret(secret, { identity: reader }),
      client.resolveSecrets({ workflowId, keys: ["TOKEN"] }, { identity: reader }),
      client.resolveSecrets({ workflowId, keys: ["TOKEN"] }, { identity: writer }),
    ];
    for (const call of calls) expect((await errorOf(call)).reason).toBe("FORBIDDEN");
    const anonymous = await errorOf(client.listSecrets({ workflowId }));
    expect(anonymous.reason).toBe("UNAUTHORIZED");
  });

  it("ends at the company: the same workflow id and key are another secret elsewhere", async () => {
    const owner = newIdentity();
    const stranger = newIdentity();
    const { workflowId } = await create(owner, { value: "the owner's" });
    const { client } = harness;
    const identity = stranger;
    const place = { workflowId, key: "TOKEN" };
    expect(await client.listSecrets({ workflowId }, { identity })).toEqual({ secrets: [] });
    expect(await resolve(stranger, workflowId, ["TOKEN"])).toEqual({});
    const replaced = await errorOf(client.replaceSecret({ ...place, value: "x" }, { identity }));
    const deleted = await errorOf(client.deleteSecret(place, { identity }));
    expect([replaced.reason, deleted.reason]).toEqual(["NOT_FOUND", "NOT_FOUND"]);
    await client.createSecret({ ...place, value: "the stranger's" }, { identity });
    expect(await resolve(owner, workflowId, ["TOKEN"])).toEqual({ TOKEN: "the owner's" });
  });
});

describe("the service's role", () => {
  it.each(["gateway", "workflows", "runs"])("cannot be read with: %s", async (other) => {
    const { count } = await harness.database.one(sql.type(z.object({ count: z.number() }))`
      select count(*) as count
      from pg_class
      where relnamespace = 'integrations'::regnamespace
        and relkind = 'r'
        and has_table_privilege(${`workflow_${other}`}, oid, 'select')
    `);
    expect(count).toBe(0);
  });
});
