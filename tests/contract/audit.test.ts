import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { ROUTES } from "@workflow/service-gateway/routes";
import { startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { auditOf } from "../support/audit-log.ts";
import { madeId, prepareAudited } from "../support/audited-requests/prepare-audited.ts";
import { bodyOf, fillWithUnknown, nameOf } from "../support/route-requests.ts";
import { startProviderDouble } from "../support/provider-double.ts";
import type { ProviderDouble } from "../support/provider-double.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/**
 * Unsafe routes without an event: runs and executions are records of their own, rows are left out (D51), and the
 * others only read.
 */
const NOT_AUDITED = [
  "POST /workflows/{id}/plan",
  "POST /workflows/{id}/run",
  "POST /workflows/{id}/schedule/trigger",
  "POST /agents/{id}/test",
  "POST /agents/{id}/execute",
  "POST /agents/{id}/evaluate",
  "POST /tables/{id}/rows",
  "POST /tables/{id}/rows/batch",
  "PATCH /tables/{id}/rows/{rowId}",
  "DELETE /tables/{id}/rows/{rowId}",
  "POST /tables/{id}/rows/query",
  "POST /tables/{id}/columns/{columnId}/values/query",
  "POST /tables/{id}/aggregate",
];

/** Actions that services take by themselves, which no route declares. */
const OF_SERVICES = ["webhook_endpoint.disabled"];

const UNSAFE = ROUTES.filter(({ method }) => method !== "GET");

let providers: ProviderDouble;
let openai: ModelDouble;
let system: WholeSystem;
beforeAll(async () => {
  providers = await startProviderDouble();
  openai = await startOpenAiDouble();
  system = await startWholeSystem({ providers: providers.settings, agents: { openai } });
});
afterAll(async () => {
  await system.stop();
  await providers.close();
  await openai.close();
});

it("only starts of runs, questions to agents, rows and reading are not audited", () => {
  const silent = UNSAFE.filter(({ audit }) => audit.length === 0).map(nameOf);
  expect(silent.toSorted()).toEqual(NOT_AUDITED.toSorted());
});

it("docs/audit.md lists the actions of all routes and of services, and no others", async () => {
  const page = await readFile(new URL("../../docs/audit.md", import.meta.url), "utf8");
  const listed = [...page.matchAll(/^\| `([a-z_]+\.[a-z_]+)`/gm)].map(([, action = ""]) => action);
  const declared = new Set([...ROUTES.flatMap(({ audit }) => audit), ...OF_SERVICES]);
  expect(listed.toSorted()).toEqual([...declared].toSorted());
});

describe.each(UNSAFE.map((route) => ({ route, name: nameOf(route) })))(
  "$name",
  ({ route, name }) => {
    it("leaves one event for each object that it changes, with who did it", async () => {
      const { path, resourceIds, ...options } = await prepareAudited(system, name);
      const requestId = `audit-${newUuid()}`;
      const answer = await system.call(route.method, path, {
        ...options,
        headers: { ...options.headers, "x-request-id": requestId, "user-agent": "matrix/1" },
      });
      expect(answer.error).toBeUndefined();
      const events = await auditOf(system, requestId);
      const wanted = resourceIds ?? [madeId(answer.data) ?? events[0]?.resourceId ?? "none"];
      expect(events.map(({ resourceId }) => resourceId).toSorted()).toEqual(wanted.toSorted());
      for (const event of events) {
        expect(route.audit).toContain(event.action);
        expect(event.actor.type).toBe(options.key === null ? "user" : "api_key");
        expect(event).toMatchObject({ ipAddress: "127.0.0.1", userAgent: "matrix/1", requestId });
        expect(JSON.stringify(event)).not.toContain("hush");
      }
    });

    it("leaves none when it is refused", async () => {
      const requestId = `refused-${newUuid()}`;
      const namesObject = Object.keys(route.params).length > 0;
      const answer = await system.call(route.method, fillWithUnknown(route), {
        body: namesObject ? bodyOf(route) : {},
        headers: { "x-request-id": requestId },
      });
      expect([400, 403, 404]).toContain(answer.status);
      expect(await auditOf(system, requestId)).toEqual([]);
    });
  },
);
