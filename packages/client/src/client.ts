import { connect } from "./api.ts";
import type { Api, ApiOptions } from "./api.ts";
import { asDescribed } from "./described.ts";
import { RESOURCES } from "./generated/resources.gen.ts";
import { watchRun } from "./run-events.ts";
import { runAndWait, runWorkflow, waitForRun } from "./runs.ts";

type Operation = (api: Api, ...rest: never[]) => unknown;

/** The same operations with their API bound. */
type Bound<Operations> = {
  readonly [Name in keyof Operations]: Operations[Name] extends (
    api: Api,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

type Resources = ReturnType<typeof allResources>;

/** All operations of the service, grouped by resource. */
export type WorkflowClient = { readonly [Name in keyof Resources]: Bound<Resources[Name]> };

/**
 * Creates a client with all operations. Pages that need only a few import those and `connect`, so a bundler leaves
 * out the rest.
 * @throws TypeError for an invalid address or key
 */
export function createClient(options: ApiOptions): WorkflowClient {
  const api = connect(options);
  const bound = Object.entries(allResources()).map(([name, operations]) => [
    name,
    bindAll(api, operations),
  ]);
  return asDescribed(Object.fromEntries(bound));
}

/** The generated operations and those that take more than one call. */
function allResources() {
  return {
    ...RESOURCES,
    workflows: {
      ...RESOURCES.workflows,
      /** Starts a run. With `mode: "sync"`, the service waits for its end. */
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
