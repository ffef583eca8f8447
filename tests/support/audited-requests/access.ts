import { createUser } from "@workflow/service-gateway/admin";
import { signInApart } from "../people.ts";
import { withId } from "./audited-request.ts";
import type { PrepareAudited } from "./audited-request.ts";

/** Requests of API keys, sessions and members that succeed, by route. */
export const ACCESS: Readonly<Record<string, PrepareAudited>> = {
  "POST /auth/api-keys": async () => ({
    path: "/auth/api-keys",
    body: { name: "One more", scopes: ["runs:read"] },
    resourceIds: null,
  }),
  "DELETE /auth/api-keys/{keyId}": async (system) => {
    const body = { name: "Short-lived", scopes: ["runs:read"] };
    const { data } = await system.call("POST", "/auth/api-keys", { body });
    const { id } = withId.parse(data);
    return { path: `/auth/api-keys/${id}`, resourceIds: [id] };
  },
  "DELETE /auth/api-keys": async (system) => {
    const person = await system.createPerson(system.acme, "admin");
    const session = await signInApart(system, person);
    const body = { name: "Theirs", scopes: ["runs:read"] };
    const resourceIds: string[] = [];
    for (let made = 0; made < 2; made += 1) {
      const { data } = await system.call("POST", "/auth/api-keys", { ...session, body });
      resourceIds.push(withId.parse(data).id);
    }
    return { path: `/auth/api-keys?createdBy=${person.id}`, resourceIds };
  },
  "PUT /auth/session": async (system) => {
    const { acme, globex, database } = system;
    const person = await system.createPerson(globex, "member");
    await createUser(database, { ...person, companyId: acme.id, role: "member" });
    const session = await signInApart(system, person, globex.id);
    return { path: "/auth/session", ...session, body: { company: acme.id }, resourceIds: null };
  },
  "POST /auth/session": async (system) => {
    const { email, password } = await system.createPerson(system.acme, "member");
    return { path: "/auth/session", body: { email, password }, key: null, resourceIds: null };
  },
  "DELETE /auth/session": async (system) => {
    const person = await system.createPerson(system.acme, "member");
    const session = await signInApart(system, person);
    return { path: "/auth/session", ...session, resourceIds: null };
  },
  "POST /auth/password": async (system) => {
    const person = await system.createPerson(system.acme, "member");
    const session = await signInApart(system, person);
    const body = { currentPassword: person.password, newPassword: "another horse battery" };
    return { path: "/auth/password", ...session, body, resourceIds: [person.id] };
  },
  "POST /members": async () => ({
    path: "/members",
    body: { email: "new@members.example", password: "of a new person", role: "viewer" },
    resourceIds: null,
  }),
  "PATCH /members/{userId}": async (system) => {
    const { id } = await system.createPerson(system.acme, "member");
    return { path: `/members/${id}`, body: { role: "viewer" }, resourceIds: [id] };
  },
  "DELETE /members/{userId}": async (system) => {
    const { id } = await system.createPerson(system.acme, "member");
    return { path: `/members/${id}`, resourceIds: [id] };
  },
};
