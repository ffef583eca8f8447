import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createCompany, createUser } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import { callApi } from "../support/api-client.ts";
import { auditOf } from "../support/audit-log.ts";
import {
  changeCompany,
  CONFLICT,
  FORBIDDEN,
  HANDED_OVER,
  memberSchema,
  newEmail,
  newMemberOfBoth,
  newToken,
  NOT_FOUND,
  removeMember,
  sessionSchema,
  showSession,
  UNAUTHORIZED,
  UNKNOWN,
} from "../support/memberships.ts";
import { bySession, signIn, trySignIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let acme: Company;
let globex: Company;

beforeAll(async () => {
  system = await startWholeSystem();
  ({ acme, globex } = system);
});
afterAll(() => system.stop());

const remove = (company: Company, userId: string) => removeMember(system, company, userId);
const show = (token: string) => showSession(system, token);
const changeTo = (token: string, body: unknown, options: CallOptions = {}) =>
  changeCompany(system, token, body, options);

describe("signing in to one of several companies (D65)", () => {
  it("chooses the oldest membership first, then the company that was used last", async () => {
    const person = await newMemberOfBoth(system);
    expect(await show(await signIn(system, person))).toMatchObject({ company: { id: acme.id } });
    const named = await signIn(system, person, globex.id.toUpperCase());
    expect(await show(named)).toMatchObject({ company: { id: globex.id }, role: "viewer" });
    const last = await signIn(system, person);
    expect(await show(last)).toMatchObject({ company: { id: globex.id } });
    // A change counts as use.
    newToken(await changeTo(last, { company: acme.id }));
    expect(await show(await signIn(system, person))).toMatchObject({ company: { id: acme.id } });
  });

  it("answers for a company that one is no member of as for a wrong password", async () => {
    const person = await system.createPerson(acme, "owner");
    const headers = { "x-request-id": "same" };
    const unknown = { email: newEmail(), password: person.password };
    for (const company of [globex.id, UNKNOWN, "none", ""]) {
      const answer = await trySignIn(system, { ...person, company }, headers);
      expect(answer).toMatchObject(UNAUTHORIZED);
      // It says that the company may be the reason, and the same when it is not.
      expect(answer.error?.message).toContain("has not joined this company");
      const wrong = { ...person, password: "wrong password", company };
      expect((await trySignIn(system, wrong, headers)).text).toBe(answer.text);
      const nobody = await trySignIn(system, { ...unknown, company }, headers);
      expect(nobody.text).toBe(answer.text);
    }
    const malformed = await trySignIn(system, { ...person, company: 1 });
    expect(malformed).toMatchObject({ status: 400, error: { details: [{ path: ["company"] }] } });
  });

  it("GET shows all companies of the person with the role in each, and no others", async () => {
    const person = await newMemberOfBoth(system, "admin");
    const token = await signIn(system, person);
    expect((await show(token)).companies).toEqual([
      { id: acme.id, name: "Acme", role: "admin" },
      { id: globex.id, name: "Globex", role: "viewer" },
    ]);
    const alone = await signIn(system, await system.createPerson(acme, "viewer"));
    expect((await show(alone)).companies).toEqual([{ id: acme.id, name: "Acme", role: "viewer" }]);
  });
});

describe("PUT /auth/session", () => {
  it("changes company, role and scopes, under a new token that ends the old one everywhere", async () => {
    const person = await newMemberOfBoth(system, "admin");
    const other = await system.startGateway();
    const token = await signIn(system, person, acme.id);
    const there = () => callApi(`${other.origin}/api/v1/workflows`, "GET", bySession(other, token));
    expect((await there()).status).toBe(200);
    expect((await system.call("GET", "/auth/api-keys", bySession(system, token))).status).toBe(200);

    const answer = await changeTo(token, { company: globex.id });
    expect(sessionSchema.parse(answer.data)).toMatchObject({
      company: { id: globex.id, name: "Globex" },
      role: "viewer",
    });
    const next = newToken(answer);
    expect(next).not.toBe(token);
    expect(answer.text).not.toContain(next);
    const asViewer = bySession(system, next);
    expect(await system.call("GET", "/auth/api-keys", asViewer)).toMatchObject(FORBIDDEN);
    const { data } = await system.call("GET", "/members", asViewer);
    expect(data).toContainEqual(expect.objectContaining({ userId: globex.owner.id }));
    expect(await system.call("GET", "/workflows", bySession(system, token))).toMatchObject(
      UNAUTHORIZED,
    );
    await waitFor(async () => (await there()).status === 401, { timeoutMs: 60_000 });
    await other.stop();
  });

  it("is 404 for a company that one is no member of, and leaves the session as it is", async () => {
    const person = await system.createPerson(acme, "owner");
    const token = await signIn(system, person);
    for (const company of [globex.id, UNKNOWN, "no id"]) {
      expect(await changeTo(token, { company })).toMatchObject(NOT_FOUND);
    }
    expect(await show(token)).toMatchObject({ company: { id: acme.id } });
    for (const body of [{}, { company: 1 }, { company: "x".repeat(65) }]) {
      expect(await changeTo(token, body)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["company"] }] },
      });
    }
  });

  it("needs a session, and an Origin of this server", async () => {
    const person = await newMemberOfBoth(system);
    const token = await signIn(system, person, acme.id);
    const body = { company: globex.id };
    const { cookie = "" } = bySession(system, token).headers;
    expect(await system.call("PUT", "/auth/session", { body })).toMatchObject(FORBIDDEN);
    expect(await system.call("PUT", "/auth/session", { key: null, body })).toMatchObject(
      UNAUTHORIZED,
    );
    for (const headers of [{ cookie }, { cookie, origin: "https://elsewhere.example" }]) {
      expect(await changeTo(token, body, { headers })).toMatchObject(FORBIDDEN);
    }
    expect(await show(token)).toMatchObject({ company: { id: acme.id } });
  });

  it("hands out one new token for an old one, however many ask at once", async () => {
    const person = await newMemberOfBoth(system);
    const token = await signIn(system, person, acme.id);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        changeTo(token, { company: index % 2 === 0 ? globex.id : acme.id }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const answer of answers.filter((each) => !won.includes(each))) {
      expect(answer).toMatchObject(UNAUTHORIZED);
    }
    const sessions = await system.database.any(sql.type(z.object({ id: z.string() }))`
      select id from gateway.sessions where user_id = ${person.id}
    `);
    expect(sessions).toHaveLength(1);
  });

  it("never leaves a session in a company whose membership ends at the same time", async () => {
    for (let round = 0; round < 6; round += 1) {
      const person = await newMemberOfBoth(system);
      const token = await signIn(system, person, acme.id);
      const [changed, removed] = await Promise.all([
        changeTo(token, { company: globex.id }),
        remove(globex, person.id),
      ]);
      expect(removed).toMatchObject({ status: 200 });
      expect([200, 404]).toContain(changed.status);
      const current = changed.status === 200 ? newToken(changed) : token;
      const after = await system.call("GET", "/auth/session", bySession(system, current));
      // Either the change was refused and the old session goes on, or the new one ended.
      expect(after.status).toBe(changed.status === 200 ? 401 : 200);
    }
  });

  it("tells each company of its own side only", async () => {
    const person = await newMemberOfBoth(system);
    const token = await signIn(system, person, acme.id);
    const headers = { ...bySession(system, token).headers, "x-request-id": "change-over" };
    newToken(await changeTo(token, { company: globex.id }, { headers }));
    const [left] = await auditOf(system, "change-over", acme.key);
    const [entered] = await auditOf(system, "change-over", globex.key);
    expect(left).toMatchObject({ action: "session.ended", actor: { type: "user", id: person.id } });
    expect(entered).toMatchObject({ action: "session.created", actor: { id: person.id } });
    expect(JSON.stringify(left)).not.toContain(globex.id);
    expect(JSON.stringify(entered)).not.toContain(acme.id);
  });
});

describe("the last owner of a company", () => {
  it("counts for that company alone", async () => {
    const owner = await newMemberOfBoth(system, "owner");
    await createUser(system.database, {
      ...(await system.createPerson(acme, "viewer")),
      companyId: globex.id,
      role: "viewer",
    });
    const asOwner = bySession(system, await signIn(system, owner, acme.id));
    // Acme has two owners, Globex one: the first may go, the other one may not.
    expect(await remove(globex, globex.owner.id)).toMatchObject(FORBIDDEN);
    const inGlobex = bySession(system, await signIn(system, globex.owner));
    expect(await system.call("DELETE", `/members/${globex.owner.id}`, inGlobex)).toMatchObject(
      CONFLICT,
    );
    expect(await system.call("DELETE", `/members/${owner.id}`, asOwner)).toMatchObject({
      status: 200,
    });
  });

  it("stays when the last two remove each other", async () => {
    for (let round = 0; round < 3; round += 1) {
      const first = { email: newEmail(), password: HANDED_OVER };
      const made = await createCompany(system.database, { name: "Pair", ...first });
      const second = await system.createPerson(acme, "member");
      await createUser(system.database, { ...second, companyId: made.companyId, role: "owner" });
      const asFirst = bySession(system, await signIn(system, first, made.companyId));
      const asSecond = bySession(system, await signIn(system, second, made.companyId));
      const answers = await Promise.all([
        system.call("DELETE", `/members/${second.id}`, asFirst),
        system.call("DELETE", `/members/${made.userId}`, asSecond),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const { data } = await system.call("GET", "/members", { key: made.apiKey });
      expect(
        z
          .array(memberSchema)
          .parse(data)
          .map(({ role }) => role),
      ).toEqual(["owner"]);
    }
  });
});
