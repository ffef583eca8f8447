import { alternate, pairRows } from "../alternate.ts";
import type { Target } from "../alternate.ts";
import { makeCallers, requestOfEach } from "../callers.ts";
import { startFloor } from "../floors/start-floor.ts";
import { createActiveWorkflow, fetchText, getWorkflowRequest } from "../rest.ts";
import type { LoadRequest } from "../load-protocol.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { medianOf } from "../statistics.ts";

const CONNECTIONS = 16;
const MANY_CONNECTIONS = 50;
/** Workflows that are read in turn: concurrent reads of the same one would share an answer. */
const WORKFLOWS = 100;

export const getWorkflow: Scenario = {
  id: "a",
  title: "Reading a workflow",
  method:
    `GET /workflows/{id} over ${CONNECTIONS} connections, in turn with a floor that answers the ` +
    "same body: bare Express, one gRPC hop, one prepared select by primary key. CPU is the " +
    "processor time of the one Node process per request. " +
    `${WORKFLOWS} workflows are read in turn. The same again over ` +
    `${MANY_CONNECTIONS} connections, each request with another one of 10,000 API keys. ` +
    "Authentication, rate limits and a log line for each request are on.",
  async measure({ system, load, sizes, scope }) {
    const requests: LoadRequest[] = [];
    for (let index = 0; index < WORKFLOWS; index += 1) {
      const id = await createActiveWorkflow(system, `Read ${index}`);
      requests.push(getWorkflowRequest(system, id));
    }
    const [request] = requests;
    if (request === undefined) throw new Error("There is nothing to read.");
    const started = await startFloor(scope, system, "read-floor.ts", await fetchText(request));
    const url = `${started.url}/documents/00000000-0000-7000-8000-000000000000`;
    const floor: Target = { pid: started.pid, request: { url, method: "GET", headers: {} } };
    const one: Target = { pid: system.pid, request, variety: requests };
    const keys = await makeCallers(system, sizes.callers);
    const many: Target = { ...one, variety: requestOfEach(keys, requests) };

    const few = await alternate({ load, sizes, connections: CONNECTIONS, system: one, floor });
    const connections = MANY_CONNECTIONS;
    const crowd = await alternate({ load, sizes, connections, system: many, floor });
    const crowdName = `${sizes.callers} keys, ${MANY_CONNECTIONS} connections`;
    return {
      figures: [
        ...figuresOf("one key", few, { rate: { atLeast: 0.6 } }),
        ...figuresOf(crowdName, crowd, { p99: { atMost: 40 } }),
      ],
      rounds: [...pairRows(few), ...pairRows(crowd)],
    };
  },
};

function figuresOf(
  name: string,
  pairs: Awaited<ReturnType<typeof alternate>>,
  targets: { rate?: Figure["target"]; p99?: Figure["target"] },
): Figure[] {
  const figure = (
    what: string,
    unit: Figure["unit"],
    valueOf: (pair: (typeof pairs)[number]) => number,
    target?: Figure["target"],
  ): Figure => ({
    name: `${name}: ${what}`,
    value: medianOf(pairs, valueOf),
    unit,
    ...(target === undefined ? {} : { target }),
  });
  return [
    figure("requests, beside the floor", "× floor", rateRatio, targets.rate),
    figure("requests", "/s", ({ system }) => system.perSecond),
    figure("p50", "ms", ({ system }) => system.p50Ms),
    figure("p99", "ms", ({ system }) => system.p99Ms, targets.p99),
    figure("CPU, beside the floor", "× floor", ({ system, floor }) => system.cpuUs / floor.cpuUs),
    figure("CPU of a request", "µs", ({ system }) => system.cpuUs),
  ];
}

function rateRatio({ system, floor }: { system: Rate; floor: Rate }): number {
  return system.perSecond / floor.perSecond;
}

interface Rate {
  perSecond: number;
}
