import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { SCOPES } from "@workflow/service-gateway/admin";
import type { Scope } from "@workflow/service-gateway/admin";
import { ROUTES } from "@workflow/service-gateway/routes";
import { bodyOf, fillWithUnknown, nameOf } from "../support/route-requests.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/** What the contract and D13 say, written out by hand: the table of routes has to agree. */
const SCOPE_OF: Readonly<Record<string, Scope>> = {
  "GET /workflows": "workflows:read",
  "GET /workflows/{id}": "workflows:read",
  "POST /workflows": "workflows:write",
  "PUT /workflows/{id}": "workflows:write",
  "DELETE /workflows/{id}": "workflows:write",
  "POST /workflows/{id}/activate": "workflows:write",
  "POST /workflows/{id}/pause": "workflows:write",
  "POST /workflows/{id}/plan": "workflows:read",
  "POST /workflows/{id}/run": "workflows:execute",
  "GET /workflows/{id}/runs": "runs:read",
  "GET /workflows/{id}/schedule": "workflows:read",
  "PUT /workflows/{id}/schedule": "workflows:write",
  "POST /workflows/{id}/schedule/trigger": "workflows:execute",
  "GET /runs": "runs:read",
  "GET /runs/{id}": "runs:read",
  "GET /runs/{id}/logs": "runs:read",
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
};

let system: WholeSystem;
/** A key with one scope, for each scope. */
let keys: Map<Scope, string>;
/** A key with all scopes but one, for each scope. */
let keysWithout: Map<Scope, string>;

beforeAll(async () => {
  system = await startWholeSystem();
  keys = new Map();
  keysWithout = new Map();
  for (const scope of SCOPES) {
    keys.set(scope, await system.createKey(system.acme, [scope]));
    const others = SCOPES.filter((other) => other !== scope);
    keysWithout.set(scope, await system.createKey(system.acme, others));
  }
});
afterAll(() => system.stop());

describe.each(ROUTES.map((route) => ({ route, name: nameOf(route) })))(
  "$name",
  ({ route, name }) => {
    const send = (key: string | null) =>
      system.call(route.method, fillWithUnknown(route), { key, body: bodyOf(route) });

    it("needs the scope that the contract names", () => {
      expect(route.scope).toBe(SCOPE_OF[name]);
    });

    it.each([
      ["no key", null],
      ["an empty key", ""],
      ["a malformed key", "wfk_short"],
      ["an unknown key", `wfk_${"0".repeat(32)}`],
    ])("answers 401 to %s", async (_what, key) => {
      expect(await send(key)).toMatchObject({ status: 401, error: { code: "UNAUTHORIZED" } });
    });

    it("answers 403 to a key of any other scope, and to one of all others together", async () => {
      const others = SCOPES.filter((scope) => scope !== route.scope).map((scope) =>
        keys.get(scope),
      );
      for (const key of [...others, keysWithout.get(route.scope)]) {
        const answer = await send(key ?? "");
        expect(answer).toMatchObject({ status: 403, error: { code: "FORBIDDEN" } });
      }
    });

    it("lets a key of its scope alone pass", async () => {
      const answer = await send(keys.get(route.scope) ?? "");
      expect([401, 403]).not.toContain(answer.status);
      expect(answer.status).toBeLessThan(500);
    });
  },
);
