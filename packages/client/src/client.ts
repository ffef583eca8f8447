import { connect } from "./api.ts";
import type { Api, ApiOptions } from "./api.ts";
import { asDescribed } from "./described.ts";
import { RESOURCES } from "./generated/resources.gen.ts";
import { watchRun } from "./run-events.ts";
import { runAndWait, runWorkflow, waitForRun } from "./runs.ts";

type Operation = (api: Api, ...rest: never[]) => unknown;

/** The same operations, with the API given. */
type Bound<Operations> = {
  readonly [Name in keyof Operations]: Operations[Name] extends (
    api: Api,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

type Resources = ReturnType<typeof allResources>;

/** Everything that the service offers, by what it is about. */
export type WorkflowClient = { readonly [Name in keyof Resources]: Bound<Resources[Name]> };

/**
 * A client with all operations. Pages that need a few of them import those and `connect` instead: what is not
 * imported does not come along.
 *
 * @throws TypeError when the address or the key cannot be one
 */
export function createClient(options: ApiOptions): WorkflowClient {
  const api = connect(options);
  const bound = Object.entries(allResources()).map(([name, operations]) => [
    name,
    bindAll(api, operations),
  ]);
  return asDescribed(Object.fromEntries(bound));
}

/** The generated operations with those that are more than one call. */
function allResources() {
  return {
    ...RESOURCES,
    workflows: {
      ...RESOURCES.workflows,
      /** Starts a run; with `mode: "sync"` the service waits for its end. */
      run: runWorkflow,
      /** Starts a run, waits for its end and returns the whole run. */
      runAndWait,
    },
    runs: {
      ...RESOURCES.runs,
      /** Follows a run to its end. */
      events: watchRun,
      /** Waits for the end of a run and returns the whole run. */
      wait: waitForRun,
    },
  };
}

function bindAll(api: Api, operations: Readonly<Record<string, Operation>>): object {
  return Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      (...rest: never[]) => operation(api, ...rest),
    ]),
  );
}
