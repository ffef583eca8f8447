import type { NetConnectOpts } from "node:net";
import { expect } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { Replicas } from "../../../deploy/dev/src/separate/plan.ts";
import type { Part } from "../../../deploy/dev/src/topology.ts";
import type { Apart } from "./start-apart.ts";

/** One process of each part. */
export const ONE_OF_EACH: Replicas = {
  gateway: 1,
  workflows: 1,
  "runs-api": 1,
  "runs-worker": 1,
  tables: 1,
  integrations: 1,
  webhooks: 1,
};
/** No process of any part. */
export const NONE: Replicas = {
  gateway: 0,
  workflows: 0,
  "runs-api": 0,
  "runs-worker": 0,
  tables: 0,
  integrations: 0,
  webhooks: 0,
};
/** A busy machine starts the processes of all parts within this time. */
export const STATE_TIMEOUT_MS = 120_000;

/** What a part says of itself at `/readyz`. */
interface PartState {
  missing: string[];
  impaired: string[];
}

/** Waits until each process tells the expected state; `what` names that in the error. */
export async function untilAll(
  { parts }: Apart,
  isExpected: (state: PartState, part: Part) => boolean,
  what: string,
): Promise<void> {
  const check = async (): Promise<void> => {
    const others: string[] = [];
    for (const each of parts.processes) {
      const state = await each.state();
      if (!isExpected(state, each.plan.part)) {
        others.push(`${each.plan.name}: ${JSON.stringify(state)}`);
      }
    }
    expect(others).toEqual([]);
  };
  await waitFor(check, { timeoutMs: STATE_TIMEOUT_MS, what });
}

/** The address of a database's server: a socket in a folder, or a port of this machine. */
export function addressOf(url: URL): NetConnectOpts {
  const host = decodeURIComponent(url.hostname);
  const port = Number(url.port);
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

/** The ids of the processes of all parts. */
export const pidsOf = ({ parts }: Apart) => parts.processes.map((each) => each.pid());
/** States that name this text among what is missing. */
export const says = (text: string) => (state: Pick<PartState, "missing">) =>
  state.missing.some((each) => each.includes(text));
/** States of a ready process whose database is impaired, in these words. */
export const onlyTells = (text: string) => (state: PartState) =>
  state.missing.length === 0 && state.impaired.some((each) => each.startsWith(`database: ${text}`));
/** Whether nothing is missing or impaired. */
export const isWhole = (state: PartState) => state.missing.length + state.impaired.length === 0;
/** Whether nothing is missing. */
export const isReady = ({ missing }: Pick<PartState, "missing">) => missing.length === 0;
