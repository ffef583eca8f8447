import { REPLICAS } from "../../deploy/dev/src/separate/plan.ts";
import { PARTS } from "../../deploy/dev/src/topology.ts";
import type { PartName } from "../../deploy/dev/src/topology.ts";

/** Which way nothing goes any more. */
type Way = "both ways" | "there" | "back";

/** A link between two processes that is cut. */
export interface CutLink {
  from: string;
  to: string;
  way: Way;
}

/** Links that are cut at the same time. */
export interface Cut {
  name: string;
  links: readonly CutLink[];
}

export const POSTGRES = "postgres";
export const NATS = "nats";

/** The names of all processes of a part, as `planProcesses` gives them. */
function processesOf(part: PartName): string[] {
  const count = REPLICAS[part];
  return count === 1 ? [part] : Array.from({ length: count }, (_, index) => `${part}-${index + 1}`);
}

/** Every process that has an address of its own. */
export const ADDRESSED: readonly string[] = [
  POSTGRES,
  NATS,
  ...PARTS.flatMap(({ name }) => processesOf(name)),
];

/**
 * Each edge of the topology, once whole and both ways, and once each way between one caller and one callee, so
 * that half of the calls go on.
 */
export function longCuts(): Cut[] {
  const edges = PARTS.flatMap((part) => {
    const callees = [...new Set(part.calls.map(({ to }) => to))];
    const from = processesOf(part.name);
    return [
      ...callees.map((to) => ({ from, to: processesOf(to) })),
      { from, to: [POSTGRES] },
      { from, to: [NATS] },
    ];
  });
  return edges.flatMap(({ from, to }) => {
    const [caller = "", callee = ""] = [from[0], to[0]];
    const all = from.flatMap((one) =>
      to.map((other): CutLink => ({ from: one, to: other, way: "both ways" })),
    );
    const edge = `${withoutNumber(caller)} – ${withoutNumber(callee)}`;
    const ways: readonly Way[] = ["there", "back"];
    return [
      { name: `${edge}, both ways`, links: all },
      ...ways.map((way) => ({
        name: `${edge}, ${way}, one of each`,
        links: [{ from: caller, to: callee, way }],
      })),
    ];
  });
}

/** Some of each kind, several at a time: processes without an edge in common are cut together. */
export const SHORT_CUTS: readonly Cut[] = [
  cutOf(
    ["gateway-1", "runs-api-1", "there"],
    ["runs-worker-1", POSTGRES, "back"],
    ["webhooks-1", NATS, "both ways"],
  ),
  cutOf(
    ["gateway-2", "tables-1", "back"],
    ["runs-worker-2", "integrations", "both ways"],
    ["runs-api-2", POSTGRES, "there"],
    ["gateway-1", "webhooks-1", "there"],
  ),
];

function cutOf(...links: readonly (readonly [string, string, Way])[]): Cut {
  return {
    name: links.map(([from, to, way]) => `${from} – ${to} ${way}`).join("; "),
    links: links.map(([from, to, way]) => ({ from, to, way })),
  };
}

function withoutNumber(process: string): string {
  return process.replace(/-\d+$/, "");
}
