import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { CallOptions } from "../support/api-client.ts";
import { callApi } from "../support/api-client.ts";
import {
  addMember,
  changeCompany,
  HANDED_OVER,
  listMembers,
  memberSchema,
  newMemberOfBoth,
  removeMember,
  showSession,
  UNAUTHORIZED,
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

const add = (company: Company, body: object) => addMember(system, company, body);
const members = (company: Company) => listMembers(system, company);
const remove = (company: Company, userId: string) => removeMember(system, company, userId);
const show = (token: string) => showSession(system, token);
const changeTo = (token: string, body: unknown, options: CallOptions = {}) =>
  changeCompany(system, token, body, options);

describe("removing somebody who is in several companies", () => {
  it("ends the membership and its sessions within 5 s, and nothing in other companies", async () => {
    const person = await newMemberOfBoth(system);
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
    await waitFor(async () => (await inGlobex()).status === 401, { timeoutMs: 60_000 });
    expect((await show(here)).companies).toEqual([{ id: acme.id, name: "Acme", role: "member" }]);
    await signIn(system, person);
    await other.stop();
  });

  it("and adding anew never sets the password of a person of another company", async () => {
    const person = await newMemberOfBoth(system);
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
