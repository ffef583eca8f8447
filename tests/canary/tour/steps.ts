import { expect } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createActive,
  createWorkflow,
  getRun,
  postRun,
  runIdOf,
  waitForRun,
} from "../../support/scenarios.ts";
import type { Run } from "../../support/scenarios.ts";
import { makeTable } from "../../support/tables.ts";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Hide } from "../hide.ts";
import type { Installation } from "../installation.ts";
import { failingSteps, succeedingSteps } from "./step-lists.ts";
import type { Surroundings } from "./step-lists.ts";
import type { Agents } from "./agents.ts";
import type { Fields } from "./rpc.ts";

/** How the kinds of steps ended: `email` or `action http.request` by `success` and `error`. */
export type StepKinds = Record<"success" | "error", Set<string>>;

/** What the tour of steps goes with. */
export interface StepsTour {
  client: WholeSystem;
  hide: Hide;
  /** No secret: in every run's input. */
  note: string;
  worldUrl: string;
  /** Connections by provider. */
  connections: Readonly<Record<string, string>>;
  agents: Agents;
  /** How the world outside and the mail server are. */
  installation: Pick<Installation, "world" | "mail">;
}

const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
const approvals = z.array(z.object({ id: z.string() }));

/** Runs a step of every kind to its success and to its failure, and does to runs what can be done to them. */
export async function tourSteps(
  tour: StepsTour,
): Promise<{ kinds: StepKinds; runIds: string[]; fields: Fields }> {
  const { installation } = tour;
  const kinds: StepKinds = { success: new Set(), error: new Set() };
  const surroundings = await prepare(tour);
  const good = await withSecrets(tour, {
    steps: succeedingSteps(surroundings),
    settings: { retry },
  });
  const bad = await withSecrets(tour, {
    // Each fails by itself, is tried twice and does not end the run.
    steps: failingSteps(surroundings).map((step) => ({ onError: "continue", retry, ...step })),
  });
  const goodRun = await watchToEnd(tour, good, "approved");
  note(kinds, goodRun, succeedingSteps(surroundings));
  installation.world.mood = "refuses";
  installation.mail.refuses = true;
  const badRun = await watchToEnd(tour, bad, "rejected");
  installation.world.mood = "good";
  installation.mail.refuses = false;
  note(kinds, badRun, failingSteps(surroundings));
  expect(goodRun).toMatchObject({ status: "completed", error: null });
  const ended = await tourRuns(tour, surroundings);
  const { tableId } = surroundings;
  const fields = {
    workflows: good,
    workflowId: good,
    runs: goodRun.id,
    runId: goodRun.id,
    tables: tableId,
    tableId,
  };
  return { kinds, runIds: [goodRun.id, badRun.id, ...ended], fields };
}

async function prepare(tour: StepsTour): Promise<Surroundings> {
  const { client, worldUrl, connections, agents, note } = tour;
  const table = await makeTable(client, client.acme.key, { rows: [{ name: note }] });
  const echo = [{ id: "same", type: "transform", name: "same", config: { mapping: "{{input}}" } }];
  const childId = await createActive(client, { steps: echo });
  const throwing = { expression: "$error('child: ' & $string($))", input: "{{input}}" };
  const badChildId = await createActive(client, {
    steps: [{ id: "throw", type: "transform", name: "throw", config: throwing }],
  });
  const tableId = table.id;
  const rowId = table.rowIds[0] ?? "";
  return { worldUrl, connections, agents, tableId, rowId, childId, badChildId };
}

/** An active workflow that has every kind of secret. */
async function withSecrets({ client, hide }: StepsTour, changes: object): Promise<string> {
  const { id } = await createWorkflow(client, { ...changes });
  const secrets = [
    { key: "TOKEN", value: hide("secret TOKEN", (core) => `p4ss/"${core}"ö+&<t>\\ é`) },
    { key: "ASCII", value: hide("secret ASCII", (core) => `ascii-${core}`) },
    { key: "BASIC", value: hide("password of basic auth", (core) => `b@sic:${core}`) },
    { key: "BEARER", value: hide("token of bearer auth") },
    { key: "BOUND", value: hide("bound secret"), allowedHosts: ["127.0.0.1"] },
    { key: "ELSEWHERE", value: hide("secret of another host"), allowedHosts: ["api.example.com"] },
  ];
  for (const body of secrets) {
    const answer = await client.call("POST", `/workflows/${id}/secrets`, { body });
    expect(answer).toMatchObject({ status: 200 });
  }
  const refused = { key: "TOKEN", value: hide("secret that is there already") };
  await client.call("POST", `/workflows/${id}/secrets`, { body: refused });
  const wrong = { key: "not a key", value: hide("secret with a wrong name"), allowedHosts: [7] };
  await client.call("POST", `/workflows/${id}/secrets`, { body: wrong });
  expect((await client.call("POST", `/workflows/${id}/activate`)).error).toBeUndefined();
  return id;
}

/** Starts a run, follows its events and decides what it asks. */
async function watchToEnd(
  { client, note }: StepsTour,
  workflowId: string,
  decision: "approved" | "rejected",
): Promise<Run> {
  const started = await postRun(client, workflowId, { input: { note, list: [note, "b"] } });
  const id = runIdOf(started);
  const events = fetch(`${client.origin}/api/v1/runs/${id}/events`, {
    headers: { "x-api-key": client.acme.key },
  }).then((response) => response.text());
  const decided = new Set<string>();
  const run = await waitFor(
    async () => {
      const { data } = await client.call("GET", `/runs/${id}/approvals`);
      for (const approval of approvals.parse(data)) {
        if (decided.has(approval.id)) continue;
        decided.add(approval.id);
        const body = { decision, comment: note };
        await client.call("POST", `/runs/${id}/approvals/${approval.id}`, { body });
      }
      const now = await getRun(client, id);
      return now.completedAt === null ? null : now;
    },
    { timeoutMs: 90_000, intervalMs: 200, what: `run ${id} to end` },
  );
  await events;
  return run;
}

/** Takes note of how the steps at the top of a run ended. */
function note(kinds: StepKinds, run: Run, steps: readonly StepOfList[]): void {
  for (const { id, type, action } of steps) {
    const result = run.stepResults.find(({ path }) => path === id);
    if (result?.status === "success" || result?.status === "error") {
      kinds[result.status].add(action === undefined ? type : `${type} ${action}`);
    }
  }
}

interface StepOfList {
  id: string;
  type: string;
  action?: string;
}

/** A run that fails, is retried, restarted, cancelled, cloned with its workflow, planned and timed out. */
async function tourRuns(tour: StepsTour, { worldUrl }: Surroundings): Promise<string[]> {
  const { client, note } = tour;
  const call = (path: string) => ({
    id: "call",
    type: "action",
    name: "call",
    action: "http.request",
    config: {
      method: "POST",
      url: `${worldUrl}/world/${path}`,
      headers: { "x-token": "{{secrets.ASCII}}" },
      body: { token: "{{secrets.TOKEN}}", note: "{{input.note}}" },
    },
  });
  const failing = await withSecrets(tour, { steps: [call("refuse")] });
  const input = { note };
  const failed = await waitForRun(client, runIdOf(await postRun(client, failing, { input })));
  expect(failed.status).toBe("failed");
  const retried = await client.call("POST", `/runs/${failed.id}/retry`);
  expect(retried.error).toBeUndefined();
  const body = { fromStepId: "call" };
  expect((await client.call("POST", `/runs/${failed.id}/restart`, { body })).error).toBeUndefined();
  const sync = { input, mode: "sync" };
  await postRun(client, failing, sync);

  const hanging = await withSecrets(tour, { steps: [call("hang")] });
  const hung = runIdOf(await postRun(client, hanging, { input }));
  await waitForRun(client, hung, ["running"]);
  expect((await client.call("POST", `/runs/${hung}/cancel`)).error).toBeUndefined();
  await waitForRun(client, hung);
  const slow = await withSecrets(tour, {
    steps: [call("hang")],
    settings: { timeoutMs: 1_000 },
  });
  const late = await waitForRun(client, runIdOf(await postRun(client, slow, { input })));
  expect(late.status).toBe("timeout");
  await tourDefinitions(tour, failing);
  return [failed.id, hung, late.id];
}

/** What can be seen and made of a workflow that has secrets. */
async function tourDefinitions({ client, hide, note }: StepsTour, id: string): Promise<void> {
  await client.call("POST", `/workflows/${id}/plan`, { body: { input: { note } } });
  const exported = await client.call("GET", `/workflows/${id}/export`);
  await client.call("POST", "/workflows/import", { body: exported.data });
  await client.call("POST", `/workflows/${id}/clone`, { body: { name: "Copy" } });
  await client.call("PUT", `/workflows/${id}`, { body: { name: `Renamed ${note}` } });
  await client.call("GET", `/workflows/${id}/versions/compare?from=1&to=2`);
  await client.call("POST", `/workflows/${id}/versions/1/rollback`);
  const replaced = { value: hide("secret that took another's place"), allowedHosts: null };
  await client.call("PUT", `/workflows/${id}/secrets/TOKEN`, { body: replaced });
  const bad = { value: hide("secret for a bad list of hosts"), allowedHosts: ["*"] };
  const refused = await client.call("PUT", `/workflows/${id}/secrets/TOKEN`, { body: bad });
  expect(refused.status).toBe(400);
  await client.call("PUT", `/workflows/${newUuid()}/secrets/TOKEN`, { body: replaced });
  await client.call("DELETE", `/workflows/${id}/secrets/TOKEN`);
  const raw = `{"key": "RAW", "value": "${hide("secret in a body that is no JSON")}", `;
  expect((await client.call("POST", `/workflows/${id}/secrets`, { raw })).status).toBe(400);
}
