import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createCompany } from "@workflow/service-gateway/admin";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import {
  addMember,
  changeCompany,
  CONFLICT,
  FORBIDDEN,
  HANDED_OVER,
  listMembers,
  memberSchema,
  newEmail,
  newToken,
  NOT_FOUND,
  removeMember,
  showSession,
  UNAUTHORIZED,
} from "../support/memberships.ts";
import { bySession, signIn, tokenIn, trySignIn } from "../support/people.ts";
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

const add = (company: Company, body: object) => addMember(system, company, body);
const members = (company: Company) => listMembers(system, company);
const remove = (company: Company, userId: string) => removeMember(system, company, userId);
const show = (token: string) => showSession(system, token);
const changeTo = (token: string, body: unknown, options: CallOptions = {}) =>
  changeCompany(system, token, body, options);

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
