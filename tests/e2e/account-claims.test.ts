import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { connected, startConnectedSystem } from "../support/connected-system.ts";
import type { ConnectedSystem } from "../support/connected-system.ts";
import type { Company } from "../support/whole-system.ts";

let world: ConnectedSystem;
beforeAll(async () => {
  world = await startConnectedSystem();
});
afterAll(() => world?.stop());

const airwallex = (apiKey: string, more: object = {}) =>
  world.connect("airwallex", { apiKey, clientId: "client", ...more });
const resend = (apiKey: string, externalAccountId?: string) =>
  world.connect("resend", { apiKey, externalAccountId });

/** What of a connection is stored besides credentials. */
async function fieldsOf(id: string): Promise<unknown> {
  const row = sql.type(z.object({ fields: z.string() }));
  return JSON.parse(
    await world.system.database.oneFirst(row`
      select fields::text as fields from integrations.connections where id = ${id}
    `),
  );
}

const refused = {
  status: 400,
  error: { code: "BAD_REQUEST", details: [{ path: ["externalAccountId"] }] },
};

describe("an account of Airwallex", () => {
  it("is what the provider says of the keys, and only they may name it", async () => {
    const before = await world.countConnections();
    expect(
      await airwallex("good-of-acct_mine", { externalAccountId: "acct_theirs" }),
    ).toMatchObject(refused);
    expect(await world.countConnections()).toBe(before);
    for (const more of [{}, { externalAccountId: "acct_mine" }]) {
      const answer = await airwallex("good-of-acct_mine", more);
      expect(answer).toMatchObject({ status: 201, data: { externalAccountId: "acct_mine" } });
    }
  });

  it("is unknown when the keys may not read it, and then it can't be named", async () => {
    expect(await airwallex("scoped-key", { externalAccountId: "acct_theirs" })).toMatchObject(
      refused,
    );
    const answer = await airwallex("scoped-key");
    expect(answer).toMatchObject({ status: 201, data: { externalAccountId: null } });
    const { id } = connected.parse(answer.data);
    expect(await world.system.call("POST", `/connections/${id}/verify`)).toMatchObject({
      data: { healthy: true, externalAccountId: null },
    });
  });

  it("is another one after keys of another one, and unknown after keys that do not tell", async () => {
    const { id: connectionId } = connected.parse((await airwallex("good-of-acct_one")).data);
    expect(await airwallex("good-of-acct_two", { connectionId })).toMatchObject({
      status: 200,
      data: { externalAccountId: "acct_two" },
    });
    expect(await airwallex("scoped-key", { connectionId })).toMatchObject({
      status: 200,
      data: { externalAccountId: null },
    });
  });
});

it("nothing that was known of one account is kept for another", async () => {
  const avalara = (body: object) => world.connect("avalara", { apiKey: "good", ...body });
  const first = { accountId: "2000", environment: "sandbox", companyCode: "ACME" };
  const { id: connectionId } = connected.parse((await avalara(first)).data);
  expect(await avalara({ connectionId })).toMatchObject({ status: 200 });
  expect(await fieldsOf(connectionId)).toEqual(first);
  const second = { accountId: "3000", environment: "production" };
  expect(await avalara({ connectionId, ...second })).toMatchObject({
    status: 200,
    data: { externalAccountId: "3000" },
  });
  expect(await fieldsOf(connectionId)).toEqual(second);
});

describe("a domain of Resend", () => {
  it("may be named, or an address in it, when the provider has proven it", async () => {
    const key = "good-of-acme.example,spare.example,+theirs.example";
    for (const own of ["acme.example", "inbox@acme.example", "SPARE.example"]) {
      expect(await resend(key, own)).toMatchObject({
        status: 201,
        data: { externalAccountId: own },
      });
    }
    for (const other of [
      "theirs.example",
      "me@theirs.example",
      "b.acme.example",
      "a@acme.example@x",
    ]) {
      expect(await resend(key, other)).toMatchObject(refused);
    }
    expect(await resend(key)).toMatchObject({ status: 201, data: { externalAccountId: null } });
  });

  it("is taken when it is the only one, and is the connection's no more when the account has lost it", async () => {
    const answer = await resend("good-of-only.example,+other.example");
    expect(answer).toMatchObject({ status: 201, data: { externalAccountId: "only.example" } });
    const { id } = connected.parse(answer.data);
    const lost = "good-of-+only.example";
    expect(await world.connect("resend", { apiKey: lost, connectionId: id })).toMatchObject({
      status: 200,
      data: { externalAccountId: null },
    });
  });

  it("is none of a provider that tells none", async () => {
    const body = { apiKey: "good", externalAccountId: "acme.example" };
    expect(await world.connect("sendgrid", body)).toMatchObject(refused);
  });
});

describe("an account that nothing proves", () => {
  const claim = (externalAccountId: string, { key }: Company) => {
    const body = { name: "Ledger", provider: "finance", externalAccountId };
    return world.system.call("POST", "/connections", { key, body });
  };

  it("is the first one's who names it, until that connection ends", async () => {
    const { acme, globex } = world.system;
    const first = await claim("acct_claimed", acme);
    expect(first.status).toBe(201);
    expect(await claim("acct_claimed", globex)).toMatchObject({
      status: 409,
      error: { code: "CONFLICT", message: expect.stringContaining("externalAccountId") },
    });
    expect(await claim("acct_other", globex)).toMatchObject({ status: 201 });
    const { id } = z.object({ id: z.string() }).parse(first.data);
    expect(await world.system.call("DELETE", `/connections/${id}`)).toMatchObject({ status: 200 });
    expect(await claim("acct_claimed", globex)).toMatchObject({ status: 201 });
    expect(await claim("acct_claimed", acme)).toMatchObject({ status: 409 });
  });

  it("is one's, however many name it at once", async () => {
    const { acme, globex } = world.system;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => claim("acct_raced", n % 2 === 0 ? acme : globex)),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
  });
});
