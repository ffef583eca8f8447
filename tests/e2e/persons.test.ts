import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createCompany, createUser } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { Answer, CallOptions } from "../support/api-client.ts";
import { callApi } from "../support/api-client.ts";
import { auditOf } from "../support/audit-log.ts";
import { bySession, signIn, tokenIn, trySignIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, Person, WholeSystem } from "../support/whole-system.ts";

const UNAUTHORIZED = { status: 401, error: { code: "UNAUTHORIZED" } };
const FORBIDDEN = { status: 403, error: { code: "FORBIDDEN" } };
const NOT_FOUND = { status: 404, error: { code: "NOT_FOUND" } };
const CONFLICT = { status: 409, error: { code: "CONFLICT" } };
const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a63";
/** What a company sets for somebody whom it adds. */
const HANDED_OVER = "handed over by a company";

const sessionSchema = z.strictObject({
  user: z.strictObject({ id: z.uuid(), email: z.string(), name: z.string() }),
  company: z.strictObject({ id: z.uuid(), name: z.string() }),
  role: z.string(),
  expiresAt: z.iso.datetime(),
  companies: z.array(
    z.strictObject({
      id: z.uuid(),
      name: z.string(),
      role: z.string(),
      invited: z.literal(true).optional(),
    }),
  ),
});
const memberSchema = z.strictObject({
  userId: z.uuid(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  createdAt: z.iso.datetime(),
});

let system: WholeSystem;
let acme: Company;
let globex: Company;

beforeAll(async () => {
  system = await startWholeSystem();
  ({ acme, globex } = system);
});
afterAll(() => system.stop());

let count = 0;
const newEmail = (): string => {
  count += 1;
  return `person${count}@persons.example`;
};

/** Somebody who is in both companies. */
async function newMemberOfBoth(inAcme: "owner" | "admin" | "member" = "member"): Promise<Person> {
  const person = await system.createPerson(acme, inAcme);
  await createUser(system.database, { ...person, companyId: globex.id, role: "viewer" });
  return person;
}

/** Makes somebody a member of a company, as an admin of it does. */
const add = (company: Company, body: object): Promise<Answer> =>
  system.call("POST", "/members", {
    key: company.key,
    body: { password: HANDED_OVER, role: "viewer", ...body },
  });
const members = async ({ key }: Company) =>
  z.array(memberSchema).parse((await system.call("GET", "/members", { key })).data);
const remove = ({ key }: Company, userId: string): Promise<Answer> =>
  system.call("DELETE", `/members/${userId}`, { key });
const show = async (token: string) =>
  sessionSchema.parse((await system.call("GET", "/auth/session", bySession(system, token))).data);
const changeTo = (token: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  system.call("PUT", "/auth/session", { ...bySession(system, token), body, ...options });
const newToken = (answer: Answer): string => {
  expect(answer).toMatchObject({ status: 200 });
  return tokenIn(answer) ?? "";
};

describe("signing in to one of several companies (D65)", () => {
  it("chooses the oldest membership first, then the company that was used last", async () => {
    const person = await newMemberOfBoth();
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
    const person = await newMemberOfBoth("admin");
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
    const person = await newMemberOfBoth("admin");
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
    await waitFor(async () => (await there()).status === 401, { timeoutMs: 5_000 });
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
    const person = await newMemberOfBoth();
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
    const person = await newMemberOfBoth();
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
      const person = await newMemberOfBoth();
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
    const person = await newMemberOfBoth();
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

describe("adding somebody who has an account elsewhere", () => {
  it("answers and lists as for somebody new, and tells nothing of the account", async () => {
    const known = await system.createPerson(acme, "admin");
    const before = Date.now();
    const answers = [
      await add(globex, { email: known.email.toUpperCase(), name: "Known" }),
      await add(globex, { email: newEmail(), name: "New" }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 201, data: { role: "viewer" } });
      const member = memberSchema.parse(answer.data);
      expect(await members(globex)).toContainEqual(member);
      // The id tells the time at which it was made.
      const madeAt = Number.parseInt(member.userId.replaceAll("-", "").slice(0, 12), 16);
      expect(madeAt).toBeGreaterThanOrEqual(before);
      expect(member.userId).not.toBe(known.id);
    }
    const names = answers.map(({ data }) => memberSchema.parse(data).name);
    expect(names).toEqual(["Known", "New"]);
  });

  it("is a conflict once somebody is a member or invited, in the same words", async () => {
    const known = await system.createPerson(acme, "member");
    const fresh = newEmail();
    await add(globex, { email: known.email });
    await add(globex, { email: fresh });
    const headers = { "x-request-id": "same" };
    const again = await Promise.all(
      [known.email, fresh].map((email) =>
        system.call("POST", "/members", {
          key: globex.key,
          headers,
          body: { email, password: HANDED_OVER, role: "viewer" },
        }),
      ),
    );
    for (const answer of again) expect(answer).toMatchObject(CONFLICT);
    expect(new Set(again.map(({ text }) => text)).size).toBe(1);
  });

  it("changes neither password nor name nor companies of the account", async () => {
    const known = await system.createPerson(acme, "member");
    await add(globex, { email: known.email, name: "Somebody else", role: "admin" });
    expect(await trySignIn(system, { ...known, password: HANDED_OVER })).toMatchObject(
      UNAUTHORIZED,
    );
    expect(await trySignIn(system, { ...known, company: globex.id })).toMatchObject(UNAUTHORIZED);
    const session = await show(await signIn(system, known));
    expect(session).toMatchObject({ user: { name: known.email }, company: { id: acme.id } });
  });

  it("shows the company to the person, who joins with the password that was handed over", async () => {
    const known = await system.createPerson(acme, "member");
    const token = await signIn(system, known);
    const invited = memberSchema.parse((await add(globex, { email: known.email })).data);
    const { companies } = await show(token);
    expect(companies).toContainEqual({
      id: globex.id,
      name: "Globex",
      role: "viewer",
      invited: true,
    });
    const joined = newToken(
      await changeTo(token, { company: globex.id, invitationPassword: HANDED_OVER }),
    );
    expect(await show(joined)).toMatchObject({ company: { id: globex.id }, role: "viewer" });
    expect((await show(joined)).companies).toEqual([
      { id: globex.id, name: "Globex", role: "viewer" },
      { id: acme.id, name: "Acme", role: "member" },
    ]);
    const ids = (await members(globex)).map(({ userId }) => userId);
    expect(ids).toContain(known.id);
    expect(ids).not.toContain(invited.userId);
    // From now on it is like any company.
    const back = newToken(await changeTo(joined, { company: acme.id }));
    newToken(await changeTo(back, { company: globex.id }));
    await signIn(system, known, globex.id);
  });

  it("lets nobody in who made an account of somebody else's address", async () => {
    // Acme's admin has chosen the password of an address that belongs to a person of Globex.
    const squatted = { email: newEmail(), password: "chosen by the squatter" };
    await add(acme, squatted);
    await add(globex, { email: squatted.email, role: "admin" });
    const token = await signIn(system, squatted);
    const attempts: [unknown, string][] = [
      [{ company: globex.id }, "is required"],
      [{ company: globex.id, invitationPassword: squatted.password }, "is not the one"],
      [{ company: globex.id, invitationPassword: "" }, "is not the one"],
    ];
    for (const [body, text] of attempts) {
      const answer = await changeTo(token, body);
      expect(answer).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["invitationPassword"] }] },
      });
      expect(answer.error?.message).toContain(text);
    }
    expect(await show(token)).toMatchObject({ company: { id: acme.id } });
    expect(await trySignIn(system, { ...squatted, company: globex.id })).toMatchObject(
      UNAUTHORIZED,
    );
  });

  it("can be guessed at ten times a minute", async () => {
    const known = await system.createPerson(acme, "member");
    await add(globex, { email: known.email });
    const token = await signIn(system, known);
    const body = { company: globex.id, invitationPassword: "a guess" };
    const answers = await Promise.all(Array.from({ length: 12 }, () => changeTo(token, body)));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  it("withstands patient guessing: after twenty wrong passwords the pauses grow", async () => {
    const known = await system.createPerson(acme, "member");
    const { userId } = memberSchema.parse((await add(globex, { email: known.email })).data);
    const token = await signIn(system, known);
    const subject = createHash("sha256")
      .update(JSON.stringify(["invitation", userId]))
      .digest();
    // As if it had been guessed at so often, the last time just before the next try may come.
    await system.database.query(sql.type(z.object({}))`
      insert into gateway.account_tries (subject, failures, next_try_at, last_tried_at)
      values (${sql.binary(subject)}, 24, now(), now())
    `);
    const invitationPassword = "a guess";
    expect(await changeTo(token, { company: globex.id, invitationPassword })).toMatchObject({
      status: 400,
    });
    // Whoever guesses does not learn whether the next one would be right.
    const body = { company: globex.id, invitationPassword: HANDED_OVER };
    const refused = await changeTo(token, body);
    expect(refused).toMatchObject({ status: 429, error: { code: "RATE_LIMITED" } });
    const waitSeconds = Number(refused.headers.get("retry-after"));
    expect(waitSeconds).toBeGreaterThan(60);
    expect(waitSeconds).toBeLessThanOrEqual(160);
  });

  it("can be changed and taken back before it is accepted", async () => {
    const known = await system.createPerson(acme, "member");
    const { userId } = memberSchema.parse((await add(globex, { email: known.email })).data);
    const { key } = globex;
    const changed = await system.call("PATCH", `/members/${userId}`, {
      key,
      body: { role: "member" },
    });
    expect(changed).toMatchObject({ status: 200, data: { userId, role: "member" } });
    const token = await signIn(system, known);
    expect((await show(token)).companies).toContainEqual(
      expect.objectContaining({ id: globex.id, role: "member" }),
    );
    // Another company can do neither.
    expect(await remove(acme, userId)).toMatchObject(NOT_FOUND);
    expect(await remove(globex, userId)).toMatchObject({ status: 200, data: { deleted: true } });
    expect(await remove(globex, userId)).toMatchObject(NOT_FOUND);
    expect((await show(token)).companies).toHaveLength(1);
    expect(
      await changeTo(token, { company: globex.id, invitationPassword: HANDED_OVER }),
    ).toMatchObject(NOT_FOUND);
  });

  it("does not count an invited owner as one who is there", async () => {
    const owner = { email: newEmail(), password: HANDED_OVER };
    const made = await createCompany(system.database, { name: "Lonely", ...owner });
    const lonely: Company = {
      id: made.companyId,
      key: made.apiKey,
      name: "Lonely",
      owner: { ...owner, id: made.userId },
    };
    const known = await system.createPerson(acme, "member");
    const asOwner = bySession(system, await signIn(system, owner));
    const body = { email: known.email, password: HANDED_OVER, role: "owner" };
    const invited = await system.call("POST", "/members", { ...asOwner, body });
    expect(invited).toMatchObject({ status: 201 });
    const { userId } = memberSchema.parse(invited.data);
    expect(await system.call("DELETE", `/members/${made.userId}`, asOwner)).toMatchObject(CONFLICT);
    // An owner's invitation is an owner's matter, like an owner.
    expect(await remove(lonely, userId)).toMatchObject(FORBIDDEN);
  });

  it("by two companies at once makes one account, and an invitation of the other", async () => {
    for (let round = 0; round < 3; round += 1) {
      const email = newEmail();
      const answers = await Promise.all([
        add(acme, { email, password: "password of acme" }),
        add(globex, { email, password: "password of globex" }),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ status: 201 });
      const passwords = ["password of acme", "password of globex"];
      const tries = await Promise.all(
        passwords.map((password) => trySignIn(system, { email, password })),
      );
      const statuses = tries.map(({ status }) => status);
      expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 401]);
      const winner = statuses.indexOf(200);
      const token = tokenIn(tries[winner] ?? Object.create(null)) ?? "";
      const other = winner === 0 ? globex : acme;
      expect((await show(token)).companies.filter(({ invited }) => invited)).toEqual([
        expect.objectContaining({ id: other.id }),
      ]);
      const invitationPassword = passwords[1 - winner];
      newToken(await changeTo(token, { company: other.id, invitationPassword }));
    }
  });

  it("is accepted once by sessions that come together", async () => {
    const known = await system.createPerson(acme, "member");
    await add(globex, { email: known.email });
    const tokens = await Promise.all([1, 2, 3].map(() => signIn(system, known)));
    const body = { company: globex.id, invitationPassword: HANDED_OVER };
    const answers = await Promise.all(tokens.map((token) => changeTo(token, body)));
    // Whoever finds it accepted already is a member by then.
    for (const answer of answers) expect(answer.status).toBe(200);
    expect((await members(globex)).filter(({ email }) => email === known.email)).toHaveLength(1);
  });
});

describe("removing somebody who is in several companies", () => {
  it("ends the membership and its sessions within 5 s, and nothing in other companies", async () => {
    const person = await newMemberOfBoth();
    const other = await system.startGateway();
    const [here, there] = [
      await signIn(system, person, acme.id),
      await signIn(system, person, globex.id),
    ];
    const inGlobex = () =>
      callApi(`${other.origin}/api/v1/workflows`, "GET", bySession(other, there));
    expect((await inGlobex()).status).toBe(200);
    expect(await remove(globex, person.id)).toMatchObject({ status: 200 });
    expect(await system.call("GET", "/workflows", bySession(system, there))).toMatchObject(
      UNAUTHORIZED,
    );
    await waitFor(async () => (await inGlobex()).status === 401, { timeoutMs: 5_000 });
    expect((await show(here)).companies).toEqual([{ id: acme.id, name: "Acme", role: "member" }]);
    await signIn(system, person);
    await other.stop();
  });

  it("and adding anew never sets the password of a person of another company", async () => {
    const person = await newMemberOfBoth();
    await remove(acme, person.id);
    expect(await add(acme, { email: person.email })).toMatchObject({ status: 201 });
    expect(await trySignIn(system, { ...person, password: HANDED_OVER })).toMatchObject(
      UNAUTHORIZED,
    );
    await signIn(system, person, globex.id);
    expect(await trySignIn(system, { ...person, company: acme.id })).toMatchObject(UNAUTHORIZED);
  });

  it("from the last one gives the address to the company that waits for it, with its password", async () => {
    const person = await system.createPerson(acme, "member");
    const token = await signIn(system, person);
    const invited = memberSchema.parse(
      (await add(globex, { email: person.email, name: "Ada" })).data,
    );
    await remove(acme, person.id);
    expect(await trySignIn(system, person)).toMatchObject(UNAUTHORIZED);
    expect(await system.call("GET", "/auth/session", bySession(system, token))).toMatchObject(
      UNAUTHORIZED,
    );
    const next = await signIn(system, { email: person.email, password: HANDED_OVER });
    expect(await show(next)).toMatchObject({
      user: { id: invited.userId, name: "Ada" },
      company: { id: globex.id },
      role: "viewer",
    });
    // The company sees what it saw before.
    expect(await members(globex)).toContainEqual(invited);
  });

  it("while the person accepts an invitation leaves either a member or a new person, never nobody", async () => {
    for (let round = 0; round < 5; round += 1) {
      const person = await system.createPerson(acme, "member");
      await add(globex, { email: person.email });
      const token = await signIn(system, person);
      const body = { company: globex.id, invitationPassword: HANDED_OVER };
      const [accepted, removed] = await Promise.all([
        changeTo(token, body),
        remove(acme, person.id),
      ]);
      expect(removed).toMatchObject({ status: 200 });
      expect([200, 401, 404]).toContain(accepted.status);
      const inGlobex = (await members(globex)).filter(({ email }) => email === person.email);
      expect(inGlobex).toHaveLength(1);
      const mine = accepted.status === 200;
      expect(inGlobex[0]?.userId === person.id).toBe(mine);
      await signIn(system, mine ? person : { ...person, password: HANDED_OVER });
    }
  });
});

describe("the last owner of a company", () => {
  it("counts for that company alone", async () => {
    const owner = await newMemberOfBoth("owner");
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
