import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createCompany } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";
import type { CallOptions } from "../support/api-client.ts";
import { bySession, signIn, trySignIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Person, WholeSystem } from "../support/whole-system.ts";

const memberSchema = z.strictObject({
  userId: z.uuid(),
  email: z.string(),
  name: z.string(),
  role: z.enum(["owner", "admin", "member", "viewer"]),
  createdAt: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
});
const FORBIDDEN = { status: 403, error: { code: "FORBIDDEN" } };
const CONFLICT = { status: 409, error: { code: "CONFLICT" } };
const PASSWORD = "a password of mine";

let system: WholeSystem;
let asOwner: CallOptions;
let asAdmin: CallOptions;

beforeAll(async () => {
  system = await startWholeSystem();
  asOwner = bySession(system, await signIn(system, system.acme.owner));
  const admin = await system.createPerson(system.acme, "admin");
  asAdmin = bySession(system, await signIn(system, admin));
});
afterAll(() => system.stop());

let count = 0;
const newEmail = (): string => {
  count += 1;
  return `someone${count}@members.example`;
};
const add = (body: object, options: CallOptions = asOwner) =>
  system.call("POST", "/members", { ...options, body });
const setRole = (userId: string, role: unknown, options: CallOptions = asOwner) =>
  system.call("PATCH", `/members/${userId}`, { ...options, body: { role } });
const remove = (userId: string, options: CallOptions = asOwner) =>
  system.call("DELETE", `/members/${userId}`, options);

async function list(options: CallOptions = {}) {
  const { data } = await system.call("GET", "/members", options);
  return z.array(memberSchema).parse(data);
}

async function addPerson(role: string): Promise<Person> {
  const person = { email: newEmail(), password: PASSWORD };
  const answer = await add({ ...person, role });
  expect(answer).toMatchObject({ status: 201 });
  return { ...person, id: memberSchema.parse(answer.data).userId };
}

describe("adding a member", () => {
  it("makes a person who can sign in with the role", async () => {
    const email = newEmail();
    const answer = await add({
      email: email.toUpperCase(),
      name: "Ada",
      password: PASSWORD,
      role: "viewer",
    });
    expect(answer).toMatchObject({ status: 201, data: { email, name: "Ada", role: "viewer" } });
    const member = memberSchema.parse(answer.data);
    expect(await list()).toContainEqual(member);
    expect(answer.text).not.toContain(PASSWORD);
    const token = await signIn(system, { email, password: PASSWORD });
    const session = bySession(system, token);
    expect((await system.call("GET", "/workflows", session)).status).toBe(200);
    const workflow = await system.call("POST", "/workflows", { ...session, body: {} });
    expect(workflow).toMatchObject(FORBIDDEN);
  });

  it("gives no role with scopes that the caller lacks (D12)", async () => {
    const key = await system.createKey(system.acme, ["api_keys:write"]);
    const body = { email: newEmail(), password: PASSWORD, role: "admin" };
    expect(await add(body, { key })).toMatchObject(FORBIDDEN);
    expect(await add({ ...body, role: "viewer" }, { key })).toMatchObject(FORBIDDEN);
    const viewer = await addPerson("viewer");
    expect(await setRole(viewer.id, "admin", { key })).toMatchObject(FORBIDDEN);
  });

  it("twice is a conflict, also for callers who come together", async () => {
    const body = { email: newEmail(), password: PASSWORD, role: "viewer" };
    const answers = await Promise.all([add(body), add(body), add(body)]);
    const statuses = answers.map(({ status }) => String(status));
    expect(statuses.toSorted()).toEqual(["201", "409", "409"]);
    expect(await add({ ...body, role: "member" })).toMatchObject(CONFLICT);
  });

  it.each([
    ["no e-mail address", { password: PASSWORD, role: "viewer" }, "email"],
    ["a bad one", { email: "nobody", password: PASSWORD, role: "viewer" }, "email"],
    ["no role", { email: "r@members.example", password: PASSWORD }, "role"],
    ["an unknown role", { email: "r@members.example", password: PASSWORD, role: "root" }, "role"],
    [
      "a short password",
      { email: "r@members.example", password: "short", role: "viewer" },
      "password",
    ],
    ["no password", { email: "r@members.example", role: "viewer" }, "password"],
  ])("with %s is refused", async (_what, body, path) => {
    expect(await add(body)).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: [path] }] },
    });
  });
});

describe("who may manage whom", () => {
  it("owners everybody, admins everybody but owners, keys as admins", async () => {
    const { key } = system.acme;
    for (const options of [asAdmin, { key }]) {
      const owner = await addPerson("owner");
      const member = await addPerson("member");
      const newOwner = { email: newEmail(), password: PASSWORD, role: "owner" };
      expect(await add(newOwner, options)).toMatchObject(FORBIDDEN);
      expect(await setRole(owner.id, "viewer", options)).toMatchObject(FORBIDDEN);
      expect(await setRole(member.id, "owner", options)).toMatchObject(FORBIDDEN);
      expect(await remove(owner.id, options)).toMatchObject(FORBIDDEN);
      expect(await setRole(member.id, "admin", options)).toMatchObject({
        status: 200,
        data: { userId: member.id, role: "admin" },
      });
      expect(await remove(member.id, options)).toMatchObject({ data: { deleted: true } });
      expect(await remove(owner.id)).toMatchObject({ status: 200 });
    }
  });

  it("members and viewers nobody, themselves included", async () => {
    for (const role of ["member", "viewer"]) {
      const person = await addPerson(role);
      const options = bySession(system, await signIn(system, person));
      expect(await setRole(person.id, "owner", options)).toMatchObject(FORBIDDEN);
      expect(await add({ email: newEmail(), role: "viewer" }, options)).toMatchObject(FORBIDDEN);
      expect((await list(options)).map(({ userId }) => userId)).toContain(person.id);
    }
  });
});

describe("the last owner", () => {
  it("can be neither removed nor lowered", async () => {
    const { owner } = system.globex;
    const options = bySession(system, await signIn(system, owner));
    expect(await setRole(owner.id, "admin", options)).toMatchObject(CONFLICT);
    expect(await remove(owner.id, options)).toMatchObject(CONFLICT);
    expect(await setRole(owner.id, "owner", options)).toMatchObject({ status: 200 });
  });

  it("stays when all owners lower and remove each other at the same time", async () => {
    const owner = { email: newEmail(), password: PASSWORD };
    const made = await createCompany(system.database, { name: "Rivals", ...owner });
    const company = { ...system.acme, id: made.companyId, key: made.apiKey };
    const rival = await system.createPerson(company, "owner");
    const first = bySession(system, await signIn(system, owner));
    const second = bySession(system, await signIn(system, rival));
    const answers = await Promise.all([
      setRole(rival.id, "viewer", first),
      remove(rival.id, first),
      setRole(made.userId, "viewer", second),
      remove(made.userId, second),
    ]);
    for (const { status } of answers) expect([200, 401, 403, 404, 409]).toContain(status);
    const left = (await list({ key: company.key })).filter(({ role }) => role === "owner");
    expect(left).toHaveLength(1);
  });
});

describe("a change of a member", () => {
  it("counts soon in every gateway, for sessions that are in use", async () => {
    const other = await system.startGateway();
    const person = await addPerson("admin");
    const token = await signIn(system, person);
    const here = () => system.call("GET", "/auth/api-keys", bySession(system, token));
    const there = () =>
      callApi(`${other.origin}/api/v1/auth/api-keys`, "GET", bySession(other, token));
    expect([(await here()).status, (await there()).status]).toEqual([200, 200]);
    await setRole(person.id, "viewer");
    expect((await here()).status).toBe(403);
    await waitFor(async () => (await there()).status === 403);
    await remove(person.id);
    expect((await here()).status).toBe(401);
    await waitFor(async () => (await there()).status === 401);
    await other.stop();
  });

  it("that removes a person ends the sign-in; added anew, the person begins anew", async () => {
    const person = await addPerson("member");
    await remove(person.id);
    expect(await trySignIn(system, person)).toMatchObject({ status: 401 });
    expect(await remove(person.id)).toMatchObject({ status: 404 });
    const password = "quite another one";
    expect(await add({ email: person.email, password, role: "member" })).toMatchObject({
      status: 201,
    });
    await signIn(system, { email: person.email, password });
  });

  it("needs a known role and a member", async () => {
    const person = await addPerson("member");
    expect(await setRole(person.id, "king")).toMatchObject({ status: 400 });
    for (const id of ["no-id", "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a", system.globex.owner.id]) {
      expect(await setRole(id, "viewer")).toMatchObject({ status: 404 });
      expect(await remove(id)).toMatchObject({ status: 404 });
    }
  });
});
