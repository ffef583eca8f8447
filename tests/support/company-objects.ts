import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { executeTestAgent, makeAgent } from "./agents.ts";
import { makeFinanceConnection } from "./connections.ts";
import { makeDashboard } from "./dashboards.ts";
import type { SignedIn } from "./dashboards.ts";
import type { Resource } from "./route-requests.ts";
import { createActive, delay, postRun, runIdOf, waitForRun } from "./scenarios.ts";
import { makeTable } from "./tables.ts";
import { makeTestedEndpoint } from "./webhook-endpoints.ts";
import { makeWebhookEvent } from "./webhook-events.ts";
import type { Company, WholeSystem } from "./whole-system.ts";

const listed = z.array(z.looseObject({ id: z.string() }));
const madeKey = z.looseObject({ id: z.string() });

const FIRST = { id: "first", type: "transform", name: "first", config: { mapping: 1 } };
const SLEEP_AND_ASK = {
  id: "both",
  type: "parallel",
  name: "both",
  config: {
    branches: [
      { id: "left", steps: [delay("sleep", 600_000)] },
      {
        id: "right",
        steps: [{ id: "ask", type: "approval", name: "ask", config: { message: "Go on?" } }],
      },
    ],
  },
};

/**
 * Makes an object of every kind that requests name, for a company.
 * @param session of the person whose dashboard it is
 * @param needed kinds that requests will name: a person is made only where one of them is a member
 */
export async function makeCompanyObjects(
  system: WholeSystem,
  company: Company,
  session: SignedIn,
  needed: ReadonlySet<Resource>,
): Promise<Record<Resource, string>> {
  const { key } = company;
  const asOwner = { key };
  const trigger = { type: "schedule", cron: "0 0 1 1 *" };
  const workflow = await createActive(system, { trigger, steps: [FIRST, SLEEP_AND_ASK] }, asOwner);
  const run = runIdOf(await postRun(system, workflow, {}, asOwner));
  const approval = await waitFor(async () => {
    const { data } = await system.call("GET", `/runs/${run}/approvals`, asOwner);
    return listed.parse(data)[0]?.id ?? null;
  });
  await waitForRun(system, run, ["waiting_approval"], asOwner);
  // Keys are names, so that a key of another company has to differ between the companies.
  const secret = `SECRET_${workflow.slice(-12).toUpperCase()}`;
  const body = { key: secret, value: "hush" };
  await system.call("POST", `/workflows/${workflow}/secrets`, { ...asOwner, body });
  const keys = await system.call("GET", "/auth/api-keys", asOwner);
  const actor = listed.parse(keys.data).at(-1)?.id ?? "";
  const made = await system.call("POST", "/auth/api-keys", {
    ...asOwner,
    body: { name: "Made", scopes: ["runs:read"] },
  });
  const apiKey = madeKey.parse(made.data).id;
  const member = needed.has("member") ? (await system.createPerson(company, "viewer")).id : "";
  const { id: dashboard, widgetId: widget } = await makeDashboard(system, session);
  const tables = await makeTable(system, key, { rows: [{ name: "theirs" }], folder: workflow });
  const { id: table, folderId: tableFolder } = tables;
  const row = tables.rowIds[0] ?? "";
  const connection = await makeFinanceConnection(system, key);
  const agent = await makeAgent(system, key);
  const ofWorkflow = { workflow, run, approval, secret };
  const ofCompany = { apiKey, member, actor, dashboard, widget, table, row, tableFolder };
  const agentExecution = await executeTestAgent(system, key, agent);
  const webhookEvent = await makeWebhookEvent(system, company);
  const ofWebhooks = { webhookEvent, ...(await makeTestedEndpoint(system, company)) };
  return { ...ofWorkflow, ...ofCompany, connection, agent, agentExecution, ...ofWebhooks };
}
