import { randomBytes } from "node:crypto";
import { expect } from "@jest/globals";
import { createUser } from "@workflow/service-gateway/admin";
import { z } from "zod";
import type { Answer, CallOptions } from "./api-client.ts";
import { bySession, tokenIn } from "./people.ts";
import type { Company, Person, WholeSystem } from "./whole-system.ts";

/** The password that a company sets for a new member. */
export const HANDED_OVER = "handed over by a company";
/** An id of no company. */
export const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a63";

export const UNAUTHORIZED = { status: 401, error: { code: "UNAUTHORIZED" } };
export const FORBIDDEN = { status: 403, error: { code: "FORBIDDEN" } };
export const NOT_FOUND = { status: 404, error: { code: "NOT_FOUND" } };
export const CONFLICT = { status: 409, error: { code: "CONFLICT" } };

/** The answer of GET and PUT of /auth/session. */
export const sessionSchema = z.strictObject({
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

/** A member as /members shows it. */
export const memberSchema = z.strictObject({
  userId: z.uuid(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  createdAt: z.iso.datetime(),
});

/** Files that share a system use e-mail addresses of their own. */
const MARK = randomBytes(4).toString("hex");
let count = 0;

/** An e-mail address that nobody else has. */
export function newEmail(): string {
  count += 1;
  return `person${count}@${MARK}.persons.example`;
}

/** A person in both companies, in Globex as a viewer. */
export async function newMemberOfBoth(
  system: WholeSystem,
  inAcme: "owner" | "admin" | "member" = "member",
): Promise<Person> {
  const person = await system.createPerson(system.acme, inAcme);
  const inGlobex = { ...person, companyId: system.globex.id, role: "viewer" } as const;
  await createUser(system.database, inGlobex);
  return person;
}

/** Makes somebody a member of a company, as an admin does. */
export function addMember(system: WholeSystem, company: Company, body: object): Promise<Answer> {
  return system.call("POST", "/members", {
    key: company.key,
    body: { password: HANDED_OVER, role: "viewer", ...body },
  });
}

/** Ends a membership or an invitation, as an admin does. */
export function removeMember(
  system: WholeSystem,
  { key }: Company,
  userId: string,
): Promise<Answer> {
  return system.call("DELETE", `/members/${userId}`, { key });
}

/** All members of a company. */
export async function listMembers(system: WholeSystem, { key }: Company) {
  return z.array(memberSchema).parse((await system.call("GET", "/members", { key })).data);
}

/** The session as GET /auth/session answers it. */
export async function showSession(system: WholeSystem, token: string) {
  const { data } = await system.call("GET", "/auth/session", bySession(system, token));
  return sessionSchema.parse(data);
}

/** Changes the company of a session. */
export function changeCompany(
  system: WholeSystem,
  token: string,
  body: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  return system.call("PUT", "/auth/session", { ...bySession(system, token), body, ...options });
}

/** The token in the answer to a change that has to succeed. */
export function newToken(answer: Answer): string {
  expect(answer).toMatchObject({ status: 200 });
  return tokenIn(answer) ?? "";
}
