import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { ROLES, SCOPES } from "@workflow/service-gateway/admin";
import type { Role, Scope } from "@workflow/service-gateway/admin";
import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import { bySession, signIn } from "../support/people.ts";
import { bodyOf, fillWithUnknown, nameOf } from "../support/route-requests.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Person, WholeSystem } from "../support/whole-system.ts";
import { SCOPE_OF, ROLE_SCOPE_OF, SCOPES_OF } from "../support/contract-scopes.ts";

const UNAUTHORIZED = { status: 401, error: { code: "UNAUTHORIZED" } };
const FORBIDDEN = { status: 403, error: { code: "FORBIDDEN" } };

let system: WholeSystem;
/** A key with one scope, for each scope. */
const keys = new Map<Scope, string>();
/** A key with all scopes but one, for each scope. */
const keysWithout = new Map<Scope, string>();
const people = new Map<Role, Person>();
/** The token of a session, for each role. */
const tokens = new Map<Role, string>();
let revokedKey = "";
let expiredKey = "";

beforeAll(async () => {
  system = await startWholeSystem();
  for (const scope of SCOPES) {
    keys.set(scope, await system.createKey(system.acme, [scope]));
    const others = SCOPES.filter((other) => other !== scope);
    keysWithout.set(scope, await system.createKey(system.acme, others));
  }
  for (const role of ROLES) {
    const person = await system.createPerson(system.acme, role);
    people.set(role, person);
    tokens.set(role, await signIn(system, person));
  }
  revokedKey = await system.createKey(system.acme, SCOPES);
  await endKey(revokedKey, sql.fragment`revoked_at = now()`);
  expiredKey = await system.createKey(system.acme, SCOPES);
  await endKey(expiredKey, sql.fragment`expires_at = now() - interval '1 second'`);
});
afterAll(() => system.stop());

/** Routes that give a role; nobody gives a role with more scopes than their own (D12). */
const GIVES_ROLES: ReadonlySet<string> = new Set(["POST /members", "PATCH /members/{userId}"]);

/** Ends a key before its first use, so that no cache has it as a good one. */
async function endKey(key: string, change: ReturnType<typeof sql.fragment>): Promise<void> {
  await system.database.query(sql.type(z.object({}))`
    update gateway.api_keys set ${change} where key_prefix = ${key.slice(0, 12)}
  `);
}

function send(route: Route, options: CallOptions) {
  return system.call(route.method, fillWithUnknown(route), { body: bodyOf(route), ...options });
}

/** A session of the role, which is new where the route ends sessions. */
async function sessionOf(role: Role, route: Route): Promise<CallOptions> {
  const person = people.get(role);
  if (person === undefined) throw new Error(`Nobody is ${role}.`);
  const isAboutSession = route.scope === "session" && route.roleScope === null;
  const token = isAboutSession ? await signIn(system, person) : tokens.get(role);
  return bySession(system, token ?? "");
}

const isUnsafe = ({ method }: Route): boolean => method !== "GET";

const guarded = ROUTES.filter((route) => route.scope !== "everybody");
const scoped = ROUTES.flatMap((route) => {
  const { scope } = route;
  return scope === "session" || scope === "everybody"
    ? []
    : [{ route, scope, name: nameOf(route) }];
});
const named = (route: Route) => ({ route, name: nameOf(route) });

describe("the table of routes", () => {
  it("asks for what the contract names", () => {
    const table = ROUTES.map((route) => [nameOf(route), route.scope]);
    expect(Object.fromEntries(table)).toEqual(SCOPE_OF);
    const ofRoles = ROUTES.flatMap((route) =>
      route.scope === "session" && route.roleScope !== null
        ? [[nameOf(route), route.roleScope] as const]
        : [],
    );
    expect(Object.fromEntries(ofRoles)).toEqual(ROLE_SCOPE_OF);
  });
});

it("a GET that leaves an audit event is for pages of this server when a session asks for it", () => {
  const changing = guarded.filter(({ method, audit }) => method === "GET" && audit.length > 0);
  expect(changing.map(nameOf)).toContain("GET /connections/{provider}/auth-url");
  expect(changing.filter((route) => !route.ownPagesOnly).map(nameOf)).toEqual([]);
});

it("a GET that changes something answers no HEAD, and says so", async () => {
  const changing = ROUTES.filter(
    ({ method, ownPagesOnly, audit }) => method === "GET" && (ownPagesOnly || audit.length > 0),
  );
  expect(changing.map(nameOf)).toContain("GET /connections/{provider}/auth-url");
  for (const route of changing) {
    const head = await system.call("HEAD", fillWithUnknown(route));
    const others = ROUTES.filter(({ path, method }) => path === route.path && method !== "GET");
    const allow = ["GET", ...others.map(({ method }) => method), "OPTIONS"].join(", ");
    expect({ route: nameOf(route), status: head.status }).toEqual({
      route: nameOf(route),
      status: 405,
    });
    expect(head.headers.get("allow")).toBe(allow);
  }
});

describe.each(guarded.map(named))("$name", ({ route }) => {
  it.each([
    ["no key", () => null],
    ["an empty key", () => ""],
    ["a malformed key", () => "wfk_short"],
    ["an unknown key", () => `wfk_${"0".repeat(32)}`],
    ["a revoked key", () => revokedKey],
    ["an expired key", () => expiredKey],
  ])("answers 401 to %s", async (_what, key) => {
    expect(await send(route, { key: key() })).toMatchObject(UNAUTHORIZED);
  });

  it("answers 401 to a session that is none, whatever its origin", async () => {
    for (const token of ["", "none", "A".repeat(43)]) {
      expect(await send(route, bySession(system, token))).toMatchObject(UNAUTHORIZED);
    }
  });
});

describe.each(scoped)("$name", ({ route, scope }) => {
  it("answers 403 to a key of any other scope, and to one of all others together", async () => {
    const others = SCOPES.filter((other) => other !== scope).map((other) => keys.get(other));
    for (const key of [...others, keysWithout.get(scope)]) {
      expect(await send(route, { key: key ?? "" })).toMatchObject(FORBIDDEN);
    }
  });

  it("lets a key of its scope alone pass", async () => {
    const answer = await send(route, { key: keys.get(scope) ?? "" });
    if (GIVES_ROLES.has(`${route.method} ${route.path}`)) {
      // The request passes the scope of the route and is refused then: the role has scopes that the key lacks.
      expect(answer).toMatchObject(FORBIDDEN);
      expect(answer.error?.message).toContain("The role viewer has scopes that the caller lacks");
      return;
    }
    expect([401, 403]).not.toContain(answer.status);
    expect(answer.status).toBeLessThan(500);
  });

  it.each(ROLES)("treats a session by the scopes of its role: %s", async (role) => {
    const options = await sessionOf(role, route);
    const answer = await send(route, options);
    if (SCOPES_OF[role].includes(scope)) {
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeLessThan(500);
    } else {
      expect(answer).toMatchObject(FORBIDDEN);
    }
  });
});

describe.each(guarded.filter((route) => route.scope === "session").map(named))(
  "$name",
  ({ route }) => {
    it("answers 403 to every key", async () => {
      for (const key of [...keys.values(), system.acme.key]) {
        expect(await send(route, { key })).toMatchObject(FORBIDDEN);
      }
    });

    it.each(ROLES)("lets a session pass whose role may: %s", async (role) => {
      const answer = await send(route, await sessionOf(role, route));
      const scope = ROLE_SCOPE_OF[nameOf(route)];
      if (scope !== undefined && !SCOPES_OF[role].includes(scope)) {
        expect(answer).toMatchObject(FORBIDDEN);
        return;
      }
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeLessThan(500);
    });
  },
);

describe.each(guarded.filter(isUnsafe).map(named))("$name", ({ route }) => {
  it.each([
    ["no origin", undefined],
    ["no readable origin", "null"],
    ["the origin of another site", "https://elsewhere.example"],
  ])("answers 403 to a session with %s", async (_what, origin) => {
    const { key, headers } = bySession(system, tokens.get("owner") ?? "");
    const cookie = headers["cookie"] ?? "";
    const answer = await send(route, {
      key,
      headers: { cookie, ...(origin === undefined ? {} : { origin }) },
    });
    expect(answer).toMatchObject(FORBIDDEN);
  });
});

describe.each(ROUTES.filter((route) => route.scope === "everybody").map(named))(
  "$name",
  ({ route }) => {
    it("answers the same whatever credential is sent along", async () => {
      const headers = { "x-request-id": "same" };
      const answers = [
        await send(route, { key: null, headers }),
        await send(route, { key: revokedKey, headers }),
        await send(route, { key: system.acme.key, headers }),
      ];
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    });
  },
);
