import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Identity } from "@workflow/rpc";
import { z } from "zod";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const nothing = z.object({});

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

async function create(identity: Identity, workflowId: string, key: string, value: string) {
  await harness.client.createSecret({ workflowId, key, value }, { identity });
}

function resolve(identity: Identity, workflowId: string, keys: string[]) {
  return harness.client.resolveSecrets({ workflowId, keys }, { identity });
}

/** Every row of every table as text, the service's own and all others. */
async function dump(database: Database): Promise<string> {
  const tables = await database.any(
    sql.type(z.object({ schema: z.string(), name: z.string() }))`
      select schemaname as schema, tablename as name
      from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')
    `,
  );
  const texts: string[] = [];
  for (const { schema, name } of tables) {
    const rows = await database.any(sql.type(z.object({ text: z.string() }))`
      select row_to_json(each)::text as text from ${sql.identifier([schema, name])} as each
    `);
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join("\n");
}

/** The forms in which a value might lie somewhere. */
function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  return [
    value,
    bytes.toString("base64"),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    bytes.toString("utf16le"),
    encodeURIComponent(value),
  ];
}

describe("a value", () => {
  it("is nowhere in the database and in no line of the log, in no form", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    // The last four characters are shown on purpose (D45).
    const values = ["hush-hush/Zauberwörter+123", "second value ÄÖÜ = %"];
    const [first = "", second = ""] = values;
    await create(identity, workflowId, "FIRST", first);
    await create(identity, workflowId, "SECOND", "replaced later on");
    const request = { workflowId, key: "SECOND", value: second };
    await harness.client.replaceSecret(request, { identity });
    await errorOf(create(identity, workflowId, "FIRST", first));
    await errorOf(create(identity, workflowId, "wrong", first));
    await errorOf(create(identity, "no-id", "FIRST", first));
    expect(await resolve(identity, workflowId, ["FIRST", "SECOND"])).toEqual({
      values: { FIRST: first, SECOND: second },
      bound: {},
    });
    const stored = await dump(harness.database);
    const logged = harness.logged();
    // Searching where nothing can be found would prove nothing.
    expect(stored).toContain("FIRST");
    expect(logged).toContain("SecretsService/CreateSecret");
    for (const value of values) {
      const hidden = Array.from(value).slice(0, -4).join("");
      for (const form of formsOf(hidden).map((text) => text.slice(0, -4))) {
        expect(stored).not.toContain(form);
        expect(logged).not.toContain(form);
      }
    }
    expect(logged).not.toContain(harness.kek.toString("hex"));
  });

  it("is encrypted differently each time", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    await create(identity, workflowId, "A", "the same");
    await create(identity, workflowId, "B", "the same");
    const rows = await harness.database.any(sql.type(z.object({ sealed: z.string() }))`
      select encode(sealed_value, 'hex') as sealed
      from integrations.secrets where workflow_id = ${workflowId}
    `);
    expect(new Set(rows.map(({ sealed }) => sealed.slice(-32))).size).toBe(2);
  });
});

describe("what was changed behind the service's back", () => {
  /** Two companies, two workflows, two keys; each its own value. */
  async function makeTwo() {
    const [one, other] = [newIdentity(), newIdentity()];
    const [first, second] = [newUuid(), newUuid()];
    for (const identity of [one, other]) {
      for (const workflowId of [first, second]) {
        for (const key of ["A", "B"]) {
          await create(identity, workflowId, key, `${identity.companyId} ${workflowId} ${key}`);
        }
      }
    }
    return { one, other, first, second };
  }

  /** Puts what is sealed at one place into another. */
  async function move(
    from: { companyId: string; workflowId: string; key: string },
    to: { companyId: string; workflowId: string; key: string },
  ): Promise<void> {
    await harness.database.query(sql.type(nothing)`
      update integrations.secrets as target
      set sealed_value = source.sealed_value, company_key_id = source.company_key_id
      from integrations.secrets as source
      where source.company_id = ${from.companyId} and source.workflow_id = ${from.workflowId}
        and source.key = ${from.key}
        and target.company_id = ${to.companyId} and target.workflow_id = ${to.workflowId}
        and target.key = ${to.key}
    `);
  }

  it.each(["company", "workflow", "key"])(
    "does not open when it was moved to another %s",
    async (part) => {
      const { one, other, first, second } = await makeTwo();
      const from = { companyId: one.companyId, workflowId: first, key: "A" };
      const to = {
        companyId: part === "company" ? other.companyId : one.companyId,
        workflowId: part === "workflow" ? second : first,
        key: part === "key" ? "B" : "A",
      };
      await move(from, to);
      const reader = part === "company" ? other : one;
      const error = await errorOf(resolve(reader, to.workflowId, ["A", "B"]));
      expect(error).toMatchObject({ reason: "INTERNAL_ERROR" });
      // The one that stayed where it was still opens.
      expect(await resolve(one, first, ["A"])).toEqual({
        values: { A: `${one.companyId} ${first} A` },
        bound: {},
      });
    },
  );

  it.each([
    ["its last byte cut off", sql.fragment`substring(sealed_value for length(sealed_value) - 1)`],
    ["a tag of four bytes", sql.fragment`substring(sealed_value for length(sealed_value) - 12)`],
    ["nothing left", sql.fragment`''::bytea`],
    ["another first byte", sql.fragment`set_byte(sealed_value, 0, 2)`],
    [
      "one bit of the nonce changed",
      sql.fragment`set_bit(sealed_value, 8, 1 - get_bit(sealed_value, 8))`,
    ],
    [
      "one bit of the text changed",
      sql.fragment`set_bit(sealed_value, 110, 1 - get_bit(sealed_value, 110))`,
    ],
  ])("does not open with %s", async (_what, changed) => {
    const identity = newIdentity();
    const workflowId = newUuid();
    await create(identity, workflowId, "A", "some value");
    await harness.database.query(sql.type(nothing)`
      update integrations.secrets set sealed_value = ${changed} where workflow_id = ${workflowId}
    `);
    const error = await errorOf(resolve(identity, workflowId, ["A"]));
    expect(error.reason).toBe("INTERNAL_ERROR");
    expect(harness.logged()).toContain(`the secret A of workflow ${workflowId} was changed`);
  });

  it("does not open with the key of another company in place of its own", async () => {
    const { one, other, first } = await makeTwo();
    await harness.database.query(sql.type(nothing)`
      update integrations.company_keys as target
      set wrapped_key = source.wrapped_key
      from integrations.company_keys as source
      where target.company_id = ${one.companyId} and source.company_id = ${other.companyId}
    `);
    expect((await errorOf(resolve(one, first, ["A"]))).reason).toBe("INTERNAL_ERROR");
    expect((await errorOf(create(one, first, "C", "value"))).reason).toBe("INTERNAL_ERROR");
  });
});

describe("a company's key", () => {
  it("is one, however many first secrets come at once to however many services", async () => {
    const identity = newIdentity();
    const workflowId = newUuid();
    const second = harness.connect(await harness.start());
    const keys = Array.from({ length: 20 }, (_, index) => `KEY_${index}`);
    await Promise.all(
      keys.map((key, index) =>
        (index % 2 === 0 ? harness.client : second).createSecret(
          { workflowId, key, value: `value of ${key}` },
          { identity },
        ),
      ),
    );
    const { count } = await harness.database.one(sql.type(z.object({ count: z.number() }))`
      select count(*) as count from integrations.company_keys
      where company_id = ${identity.companyId}
    `);
    expect(count).toBe(1);
    const { values } = await resolve(identity, workflowId, keys);
    expect(values).toEqual(Object.fromEntries(keys.map((key) => [key, `value of ${key}`])));
  });

  it("is another one for each company", async () => {
    const ids = [newIdentity(), newIdentity()];
    for (const identity of ids) await create(identity, newUuid(), "A", "value");
    const rows = await harness.database.any(sql.type(z.object({ kekId: z.string() }))`
      select kek_id as "kekId" from integrations.company_keys
      where company_id = any(${sql.array(
        ids.map(({ companyId }) => companyId),
        "uuid",
      )})
    `);
    expect(rows).toHaveLength(2);
  });
});

describe("SECRETS_KEK", () => {
  it("that does not open what is stored ends the start with an error that names it", async () => {
    await create(newIdentity(), newUuid(), "A", "value");
    const wrong = randomBytes(32);
    const start = harness.start({ loadKeks: () => Promise.resolve([wrong]) });
    await expect(start).rejects.toThrow(
      /SECRETS_KEK: secrets in the database are encrypted with another key/,
    );
  });

  it.each([
    ["is empty", []],
    ["has a key of the wrong length", [randomBytes(31)]],
  ])("that %s ends the start", async (_what, keks) => {
    const start = harness.start({ loadKeks: () => Promise.resolve(keks) });
    await expect(start).rejects.toThrow(/SECRETS_KEK/);
  });

  it("with a second key opens what either of them has wrapped", async () => {
    // A database of its own: what is wrapped with the new key is in the way of other starts.
    const own = await startHarness();
    try {
      const [identity, other] = [newIdentity(), newIdentity()];
      const workflowId = newUuid();
      const place = { workflowId, key: "A" };
      await own.client.createSecret({ ...place, value: "under the old key" }, { identity });
      const keks = [randomBytes(32), own.kek];
      const client = own.connect(await own.start({ loadKeks: () => Promise.resolve(keks) }));
      await client.createSecret({ ...place, value: "under the new" }, { identity: other });
      const request = { workflowId, keys: ["A"] };
      expect(await client.resolveSecrets(request, { identity })).toEqual({
        values: { A: "under the old key" },
        bound: {},
      });
      expect(await client.resolveSecrets(request, { identity: other })).toEqual({
        values: { A: "under the new" },
        bound: {},
      });
      // A service that lacks the new key says so, and works on for everybody else.
      const error = await errorOf(own.client.resolveSecrets(request, { identity: other }));
      expect(error.reason).toBe("UNAVAILABLE");
      expect(own.logged()).toContain("SECRETS_KEK lacks the key");
      expect(await own.client.resolveSecrets(request, { identity })).toEqual({
        values: { A: "under the old key" },
        bound: {},
      });
    } finally {
      await own.close();
    }
  });
});
