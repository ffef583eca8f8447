import { newUuid } from "@workflow/db";
import { createUser } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { CallOptions } from "./api-client.ts";
import { makeAgent } from "./agents.ts";
import { makeFinanceConnection } from "./connections.ts";
import { makeDashboard, signInEditor } from "./dashboards.ts";
import type { SignedIn } from "./dashboards.ts";
import { signInApart } from "./people.ts";
import {
  createActive,
  createInStatus,
  delay,
  failing,
  runToEnd,
  startRun,
  transform,
  waitForRun,
  workflowBody,
} from "./scenarios.ts";
import { makeTable } from "./tables.ts";
import { makeEndpoint, NOBODY } from "./webhook-endpoints.ts";
import { makeWebhookEvent } from "./webhook-events.ts";
import type { WholeSystem } from "./whole-system.ts";

/** A request that succeeds and changes something. */
export interface AuditedRequest extends CallOptions {
  path: string;
  /** The objects that are changed, one event each; null for one whose id the answer may say. */
  resourceIds: readonly string[] | null;
}

type Prepare = (system: WholeSystem) => Promise<AuditedRequest>;

const withId = z.object({ id: z.string() });
const withUserId = z.object({ userId: z.string() });
const approvals = z.array(withId);

/** For every route that may change something, how to bring it about. */
const PREPARE: Readonly<Record<string, Prepare>> = {
  "POST /workflows": async () => ({
    path: "/workflows",
    body: workflowBody(),
    resourceIds: null,
  }),
  "PUT /workflows/{id}": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}`, body: { name: "Renamed" }, resourceIds: [id] };
  },
  "DELETE /workflows/{id}": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}`, resourceIds: [id] };
  },
  "POST /workflows/{id}/activate": async (system) => {
    const id = await createInStatus(system, "paused");
    return { path: `/workflows/${id}/activate`, resourceIds: [id] };
  },
  "POST /workflows/{id}/pause": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/pause`, resourceIds: [id] };
  },
  "POST /workflows/{id}/plan": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/plan`, body: {}, resourceIds: [] };
  },
  "PATCH /workflows/{id}/canvas": async (system) => {
    const id = await createActive(system);
    return {
      path: `/workflows/${id}/canvas`,
      body: { canvasState: { blocks: {}, edges: [], loops: {}, parallels: {} } },
      resourceIds: [id],
    };
  },
  "POST /workflows/{id}/clone": async (system) => ({
    path: `/workflows/${await createActive(system)}/clone`,
    body: { name: "Copy" },
    resourceIds: null,
  }),
  "POST /workflows/import": async () => ({
    path: "/workflows/import",
    body: { formatVersion: 1, ...workflowBody() },
    resourceIds: null,
  }),
  "POST /workflows/{id}/versions/{version}/rollback": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/versions/1/rollback`, resourceIds: [id] };
  },
  "POST /workflows/{id}/run": async (system) => {
    const id = await createActive(system);
    return { path: `/workflows/${id}/run`, body: {}, resourceIds: [] };
  },
  "PUT /workflows/{id}/schedule": async (system) => {
    const id = await createScheduled(system);
    const { data } = await system.call("GET", `/workflows/${id}/schedule`);
    return {
      path: `/workflows/${id}/schedule`,
      body: { cron: "0 9 * * 1" },
      resourceIds: [withId.parse(data).id],
    };
  },
  "POST /workflows/{id}/schedule/trigger": async (system) => {
    const id = await createScheduled(system);
    return { path: `/workflows/${id}/schedule/trigger`, resourceIds: [] };
  },
  "POST /runs/{id}/cancel": async (system) => {
    const id = await startSleeping(system);
    return { path: `/runs/${id}/cancel`, resourceIds: [id] };
  },
  "POST /runs/{id}/retry": async (system) => {
    const id = await failRun(system);
    return { path: `/runs/${id}/retry`, resourceIds: [id] };
  },
  "POST /runs/{id}/restart": async (system) => {
    const steps = [transform("greet", { text: "Hello" })];
    const { id } = await runToEnd(system, await createActive(system, { steps }));
    return { path: `/runs/${id}/restart`, body: { fromStepId: "greet" }, resourceIds: [id] };
  },
  "POST /runs/bulk": async (system) => {
    const runIds = [await startSleeping(system), await startSleeping(system)];
    const { id: ended } = await runToEnd(system, await createActive(system));
    return {
      path: "/runs/bulk",
      body: { action: "cancel", runIds: [...runIds, ended] },
      resourceIds: runIds,
    };
  },
  "POST /runs/{id}/approvals/{approvalId}": async (system) => {
    const ask = { id: "ask", type: "approval", name: "ask", config: { message: "Go on?" } };
    const id = await startRun(system, await createActive(system, { steps: [ask] }));
    const approvalId = await waitFor(async () => {
      const { data } = await system.call("GET", `/runs/${id}/approvals`);
      return approvals.parse(data)[0]?.id ?? null;
    });
    return {
      path: `/runs/${id}/approvals/${approvalId}`,
      body: { decision: "approved" },
      resourceIds: [id],
    };
  },
  "POST /workflows/{workflowId}/secrets": async (system) => ({
    path: `/workflows/${await createActive(system)}/secrets`,
    body: { key: "TOKEN", value: "hush-hush-hush" },
    resourceIds: null,
  }),
  "PUT /workflows/{workflowId}/secrets/{key}": async (system) => {
    const { path, id } = await createSecret(system);
    return { path: `${path}/TOKEN`, body: { value: "hush-hush-hush" }, resourceIds: [id] };
  },
  "DELETE /workflows/{workflowId}/secrets/{key}": async (system) => {
    const { path, id } = await createSecret(system);
    return { path: `${path}/TOKEN`, resourceIds: [id] };
  },
  "POST /connections": async () => ({
    path: "/connections",
    body: { name: "Ledger", provider: "finance", externalAccountId: `acct_${newUuid()}` },
    resourceIds: null,
  }),
  "POST /connections/{provider}/api-key": async () => ({
    path: "/connections/rillet/api-key",
    body: { apiKey: "good-hush" },
    resourceIds: null,
  }),
  "DELETE /connections/{id}": async (system) => {
    const id = await makeFinanceConnection(system, system.acme.key);
    return { path: `/connections/${id}`, resourceIds: [id] };
  },
  "POST /connections/{id}/refresh": async (system) => {
    const id = await makeFinanceConnection(system, system.acme.key);
    return { path: `/connections/${id}/refresh`, resourceIds: [id] };
  },
  "POST /connections/{id}/verify": async (system) => {
    const id = await makeFinanceConnection(system, system.acme.key);
    return { path: `/connections/${id}/verify`, resourceIds: [id] };
  },
  "POST /agents": async () => ({
    path: "/agents",
    body: {
      name: `Reader ${newUuid()}`,
      type: "extraction",
      systemPrompt: "Say hush.",
      outputSchema: { title: "hush" },
    },
    resourceIds: null,
  }),
  "PUT /agents/{id}": async (system) => {
    const id = await makeAgent(system, system.acme.key);
    return { path: `/agents/${id}`, body: { systemPrompt: "Say hush." }, resourceIds: [id] };
  },
  "DELETE /agents/{id}": async (system) => {
    const id = await makeAgent(system, system.acme.key);
    return { path: `/agents/${id}`, resourceIds: [id] };
  },
  "POST /agents/{id}/test": (system) => questionToAgent(system, "test", { input: {} }),
  "POST /agents/{id}/execute": (system) => questionToAgent(system, "execute", { input: {} }),
  "POST /agents/{id}/evaluate": (system) =>
    questionToAgent(system, "evaluate", { cases: [{ input: {}, expect: { equals: "hush" } }] }),
  "POST /webhook-endpoints": async () => ({
    path: "/webhook-endpoints",
    body: { name: "Ours", url: NOBODY, headers: { "x-token": "hush" }, description: "Ours" },
    resourceIds: null,
  }),
  "PUT /webhook-endpoints/{id}": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    const body = { url: `${NOBODY}hush`, headers: { "x-token": "hush" } };
    return { path: `/webhook-endpoints/${id}`, body, resourceIds: [id] };
  },
  "DELETE /webhook-endpoints/{id}": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    return { path: `/webhook-endpoints/${id}`, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/rotate-secret": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    return { path: `/webhook-endpoints/${id}/rotate-secret`, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/test": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    return { path: `/webhook-endpoints/${id}/test`, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/recover": async (system) => {
    const id = await makeEndpoint(system, system.acme);
    const body = { since: new Date(0).toISOString() };
    return { path: `/webhook-endpoints/${id}/recover`, body, resourceIds: [id] };
  },
  "POST /webhook-endpoints/{id}/deliveries/{deliveryId}/retry": async (system) => {
    const workflowId = await createActive(system);
    // Of one event: the delivery of a second one might come at any moment after the first, and wait for a day.
    const fields = { workflowIds: [workflowId], events: ["workflow.completed"] };
    const id = await makeEndpoint(system, system.acme, fields);
    await runToEnd(system, workflowId);
    const path = `/webhook-endpoints/${id}/deliveries`;
    const delivery = await waitFor(async () => {
      const { data } = await system.call("GET", path);
      return z.array(withId).parse(data)[0] ?? null;
    });
    return { path: `${path}/${delivery.id}/retry`, resourceIds: [delivery.id] };
  },
  "POST /webhook-events/{id}/replay": async (system) => {
    const id = await makeWebhookEvent(system, system.acme);
    return { path: `/webhook-events/${id}/replay`, resourceIds: null };
  },
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
  "POST /dashboards": async (system) => ({
    path: "/dashboards",
    ...(await editorOf(system)),
    body: { name: "Runs" },
    resourceIds: null,
  }),
  "PATCH /dashboards/{id}": async (system) => {
    const { session, id } = await makeOwnDashboard(system);
    return { path: `/dashboards/${id}`, ...session, body: { name: "Renamed" }, resourceIds: [id] };
  },
  "DELETE /dashboards/{id}": async (system) => {
    const { session, id } = await makeOwnDashboard(system);
    return { path: `/dashboards/${id}`, ...session, resourceIds: [id] };
  },
  "POST /dashboards/{id}/widgets": async (system) => {
    const { session, id } = await makeOwnDashboard(system);
    const body = { type: "text", title: "Read me", config: { text: "hush" } };
    return { path: `/dashboards/${id}/widgets`, ...session, body, resourceIds: [id] };
  },
  "PATCH /dashboards/{id}/widgets/{widgetId}": async (system) => {
    const { session, id, widgetId } = await makeOwnDashboard(system);
    const path = `/dashboards/${id}/widgets/${widgetId}`;
    return { path, ...session, body: { config: { text: "hush" } }, resourceIds: [id] };
  },
  "DELETE /dashboards/{id}/widgets/{widgetId}": async (system) => {
    const { session, id, widgetId } = await makeOwnDashboard(system);
    return { path: `/dashboards/${id}/widgets/${widgetId}`, ...session, resourceIds: [id] };
  },
  "PUT /dashboards/{id}/layout": async (system) => {
    const { session, id, widgetId } = await makeOwnDashboard(system);
    const body = { widgets: [{ id: widgetId, x: 0, y: 0, w: 12, h: 8 }] };
    return { path: `/dashboards/${id}/layout`, ...session, body, resourceIds: [id] };
  },
  "POST /tables": async () => ({
    path: "/tables",
    body: { name: "Contacts", metadata: { note: "hush" } },
    resourceIds: null,
  }),
  "POST /tables/import": async () => ({
    path: "/tables/import",
    body: { name: "Contacts", columns: [{ name: "a", type: "text" }], rows: [{ a: "hush" }] },
    resourceIds: null,
  }),
  "PATCH /tables/{id}": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}`, body: { name: "Renamed" }, resourceIds: [id] };
  },
  "DELETE /tables/{id}": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}`, resourceIds: [id] };
  },
  "POST /tables/{id}/rows": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}/rows`, body: { data: { name: "hush" } }, resourceIds: [] };
  },
  "POST /tables/{id}/rows/batch": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    const body = { insert: [{ data: { name: "hush" } }] };
    return { path: `/tables/${id}/rows/batch`, body, resourceIds: [] };
  },
  "PATCH /tables/{id}/rows/{rowId}": async (system) => {
    const body = { data: { name: "hush" } };
    return { path: await makeRow(system), body, resourceIds: [] };
  },
  "DELETE /tables/{id}/rows/{rowId}": async (system) => ({
    path: await makeRow(system),
    resourceIds: [],
  }),
  "POST /tables/{id}/rows/query": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}/rows/query`, resourceIds: [] };
  },
  "POST /tables/{id}/columns/{columnId}/values/query": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}/columns/name/values/query`, resourceIds: [] };
  },
  "POST /tables/{id}/aggregate": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    const body = { measures: [{ fn: "count" }] };
    return { path: `/tables/${id}/aggregate`, body, resourceIds: [] };
  },
  "POST /table-folders": async () => ({
    path: "/table-folders",
    body: { name: `Audited ${newUuid()}` },
    resourceIds: null,
  }),
  "PATCH /table-folders/tables/{tableId}": async (system) => {
    const { id } = await makeTable(system, system.acme.key, { folder: `Old ${newUuid()}` });
    const body = { folderId: null };
    return { path: `/table-folders/tables/${id}`, body, resourceIds: [id] };
  },
};

/** A request of a route that will succeed. Throws for a route that is not known here. */
export async function prepareAudited(system: WholeSystem, name: string): Promise<AuditedRequest> {
  const prepare = PREPARE[name];
  if (prepare === undefined) {
    throw new Error(`Say how ${name} succeeds, in ${import.meta.filename}.`);
  }
  return prepare(system);
}

/** The id of what an answer says was made; undefined when it does not say. */
export function madeId(data: unknown): string | undefined {
  return withId.safeParse(data).data?.id ?? withUserId.safeParse(data).data?.userId;
}

/** It succeeds and leaves no event. */
async function questionToAgent(
  system: WholeSystem,
  verb: string,
  body: unknown,
): Promise<AuditedRequest> {
  const id = await makeAgent(system, system.acme.key);
  return { path: `/agents/${id}/${verb}`, body, resourceIds: [] };
}

async function createScheduled(system: WholeSystem): Promise<string> {
  return createActive(system, { trigger: { type: "schedule", cron: "0 0 1 1 *" } });
}

async function startSleeping(system: WholeSystem): Promise<string> {
  const steps = [delay("sleep", 600_000)];
  const id = await startRun(system, await createActive(system, { steps }));
  await waitForRun(system, id, ["suspended", "running"]);
  return id;
}

async function failRun(system: WholeSystem): Promise<string> {
  const { id } = await runToEnd(system, await createActive(system, { steps: [failing("call")] }));
  return id;
}

/** Signed in once for each system: there are limits of that. */
const editors = new WeakMap<WholeSystem, Promise<SignedIn>>();

function editorOf(system: WholeSystem): Promise<SignedIn> {
  const known = editors.get(system) ?? signInEditor(system, system.acme);
  editors.set(system, known);
  return known;
}

async function makeOwnDashboard(system: WholeSystem) {
  const session = await editorOf(system);
  return { session, ...(await makeDashboard(system, session)) };
}

/** The path of a row. */
async function makeRow(system: WholeSystem): Promise<string> {
  const { id, rowIds } = await makeTable(system, system.acme.key, { rows: [{ name: "hush" }] });
  return `/tables/${id}/rows/${rowIds[0]}`;
}

async function createSecret(system: WholeSystem): Promise<{ path: string; id: string }> {
  const path = `/workflows/${await createActive(system)}/secrets`;
  const body = { key: "TOKEN", value: "hush" };
  const { data } = await system.call("POST", path, { body });
  return { path, id: withId.parse(data).id };
}
