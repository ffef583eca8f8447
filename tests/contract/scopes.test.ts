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

/**
 * What the contract and the decisions say (D10, D13), written out by hand: the table of routes has to
 * agree. `session` is for signed-in people, of whatever role unless ROLE_SCOPE_OF says otherwise.
 */
const SCOPE_OF: Readonly<Record<string, Scope | "session" | "everybody">> = {
  "GET /blocks": "workflows:read",
  "GET /blocks/{type}": "workflows:read",
  "GET /workflows": "workflows:read",
  "GET /workflows/{id}": "workflows:read",
  "POST /workflows": "workflows:write",
  "PUT /workflows/{id}": "workflows:write",
  "DELETE /workflows/{id}": "workflows:write",
  "POST /workflows/{id}/activate": "workflows:write",
  "POST /workflows/{id}/pause": "workflows:write",
  "POST /workflows/{id}/plan": "workflows:read",
  "PATCH /workflows/{id}/canvas": "workflows:write",
  "POST /workflows/{id}/clone": "workflows:write",
  "GET /workflows/{id}/export": "workflows:read",
  "POST /workflows/import": "workflows:write",
  "GET /workflows/{id}/versions": "workflows:read",
  "GET /workflows/{id}/versions/{version}": "workflows:read",
  "GET /workflows/{id}/versions/compare": "workflows:read",
  "POST /workflows/{id}/versions/{version}/rollback": "workflows:write",
  "POST /workflows/{id}/run": "workflows:execute",
  "GET /workflows/{id}/runs": "runs:read",
  "GET /workflows/{id}/schedule": "workflows:read",
  "PUT /workflows/{id}/schedule": "workflows:write",
  "POST /workflows/{id}/schedule/trigger": "workflows:execute",
  "GET /runs": "runs:read",
  "GET /runs/{id}": "runs:read",
  "GET /runs/{id}/logs": "runs:read",
  "GET /runs/{id}/steps": "runs:read",
  "GET /runs/{id}/steps/{path}": "runs:read",
  "POST /runs/{id}/cancel": "workflows:execute",
  "POST /runs/{id}/retry": "workflows:execute",
  "POST /runs/{id}/restart": "workflows:execute",
  "POST /runs/bulk": "workflows:execute",
  "GET /runs/{id}/events": "runs:read",
  "GET /runs/{id}/approvals": "runs:read",
  "POST /runs/{id}/approvals/{approvalId}": "workflows:execute",
  "GET /approvals": "runs:read",
  "GET /workflows/{workflowId}/secrets": "secrets:read",
  "POST /workflows/{workflowId}/secrets": "secrets:write",
  "PUT /workflows/{workflowId}/secrets/{key}": "secrets:write",
  "DELETE /workflows/{workflowId}/secrets/{key}": "secrets:write",
  "GET /connections": "connections:read",
  "POST /connections": "connections:write",
  "POST /connections/{provider}/api-key": "connections:write",
  "GET /connections/{provider}/auth-url": "connections:write",
  "GET /connections/{provider}/callback": "everybody",
  "GET /connections/{id}": "connections:read",
  "DELETE /connections/{id}": "connections:write",
  "POST /connections/{id}/refresh": "connections:write",
  "POST /connections/{id}/verify": "connections:write",
  "GET /connections/{id}/plaid/accounts": "connections:read",
  "GET /agents": "workflows:read",
  "POST /agents": "workflows:write",
  "GET /agents/{id}": "workflows:read",
  "PUT /agents/{id}": "workflows:write",
  "DELETE /agents/{id}": "workflows:write",
  "POST /agents/{id}/test": "workflows:execute",
  "POST /agents/{id}/execute": "workflows:execute",
  "POST /agents/{id}/evaluate": "workflows:execute",
  "GET /agents/{id}/executions": "runs:read",
  "GET /agents/{id}/executions/{executionId}": "runs:read",
  "GET /webhook-endpoints": "workflows:read",
  "POST /webhook-endpoints": "workflows:write",
  "GET /webhook-endpoints/{id}": "workflows:read",
  "PUT /webhook-endpoints/{id}": "workflows:write",
  "DELETE /webhook-endpoints/{id}": "workflows:write",
  "POST /webhook-endpoints/{id}/rotate-secret": "workflows:write",
  "POST /webhook-endpoints/{id}/test": "workflows:write",
  "POST /webhook-endpoints/{id}/recover": "workflows:write",
  "GET /webhook-endpoints/{id}/deliveries": "workflows:read",
  "GET /webhook-endpoints/{id}/deliveries/{deliveryId}": "workflows:read",
  "POST /webhook-endpoints/{id}/deliveries/{deliveryId}/retry": "workflows:write",
  "GET /webhook-event-types": "workflows:read",
  "GET /webhook-events": "runs:read",
  "GET /webhook-events/{id}": "runs:read",
  "POST /webhook-events/{id}/replay": "workflows:execute",
  "GET /auth/api-keys": "api_keys:read",
  "POST /auth/api-keys": "api_keys:write",
  "DELETE /auth/api-keys/{keyId}": "api_keys:write",
  "DELETE /auth/api-keys": "api_keys:write",
  "POST /auth/session": "everybody",
  "GET /auth/session": "session",
  "PUT /auth/session": "session",
  "DELETE /auth/session": "session",
  "POST /auth/password": "session",
  "GET /members": "workflows:read",
  "POST /members": "api_keys:write",
  "PATCH /members/{userId}": "api_keys:write",
  "DELETE /members/{userId}": "api_keys:write",
  "GET /audit-logs": "audit:read",
  "GET /dashboards": "workflows:read",
  "POST /dashboards": "session",
  "GET /dashboards/{id}": "workflows:read",
  "PATCH /dashboards/{id}": "session",
  "DELETE /dashboards/{id}": "session",
  "POST /dashboards/{id}/widgets": "session",
  "PATCH /dashboards/{id}/widgets/{widgetId}": "session",
  "DELETE /dashboards/{id}/widgets/{widgetId}": "session",
  "PUT /dashboards/{id}/layout": "session",
  "GET /dashboards/{id}/widgets/{widgetId}/data": "workflows:read",
  "GET /tables": "workflows:read",
  "POST /tables": "workflows:write",
  "POST /tables/import": "workflows:write",
  "GET /tables/{id}": "workflows:read",
  "PATCH /tables/{id}": "workflows:write",
  "DELETE /tables/{id}": "workflows:write",
  "POST /tables/{id}/rows/query": "workflows:read",
  "GET /tables/{id}/rows": "workflows:read",
  "POST /tables/{id}/rows": "workflows:write",
  "POST /tables/{id}/rows/batch": "workflows:write",
  "GET /tables/{id}/rows/export": "workflows:read",
  "GET /tables/{id}/rows/{rowId}": "workflows:read",
  "PATCH /tables/{id}/rows/{rowId}": "workflows:write",
  "DELETE /tables/{id}/rows/{rowId}": "workflows:write",
  "POST /tables/{id}/columns/{columnId}/values/query": "workflows:read",
  "GET /tables/{id}/columns/{columnId}/values": "workflows:read",
  "POST /tables/{id}/aggregate": "workflows:read",
  "GET /table-folders": "workflows:read",
  "POST /table-folders": "workflows:write",
  "PATCH /table-folders/tables/{tableId}": "workflows:write",
};

/** The routes for signed-in people whose role has to hold a scope as well. */
const ROLE_SCOPE_OF: Readonly<Record<string, Scope>> = {
  "POST /dashboards": "workflows:write",
  "PATCH /dashboards/{id}": "workflows:write",
  "DELETE /dashboards/{id}": "workflows:write",
  "POST /dashboards/{id}/widgets": "workflows:write",
  "PATCH /dashboards/{id}/widgets/{widgetId}": "workflows:write",
  "DELETE /dashboards/{id}/widgets/{widgetId}": "workflows:write",
  "PUT /dashboards/{id}/layout": "workflows:write",
};

const ADMINISTRATION: readonly Scope[] = ["api_keys:read", "api_keys:write", "audit:read"];
/** What a session may do (D10). */
const SCOPES_OF: Readonly<Record<Role, readonly Scope[]>> = {
  owner: SCOPES,
  admin: SCOPES,
  member: SCOPES.filter((scope) => !ADMINISTRATION.includes(scope)),
  viewer: ["workflows:read", "runs:read", "connections:read", "secrets:read"],
};

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

/** Routes that give a role, which nobody gives with more scopes than their own (D12). */
const GIVES_ROLES: ReadonlySet<string> = new Set(["POST /members", "PATCH /members/{userId}"]);

/** Before the key is used for the first time, so that nobody remembers it as a good one. */
async function endKey(key: string, change: ReturnType<typeof sql.fragment>): Promise<void> {
  await system.database.query(sql.type(z.object({}))`
    update gateway.api_keys set ${change} where key_prefix = ${key.slice(0, 12)}
  `);
}

function send(route: Route, options: CallOptions) {
  return system.call(route.method, fillWithUnknown(route), { body: bodyOf(route), ...options });
}

/** A session of the role; a new one where the route would end it. */
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
      // Past the scope of the route, what is asked for is refused: the role has scopes that the key lacks.
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
