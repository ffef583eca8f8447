import { createFinder } from "./finder.ts";
import type { Canary } from "./finder.ts";

/** Where it is looked for canaries. */
export const PLACES = [
  "REST answers",
  "live events",
  "gRPC answers",
  "admin commands",
  "terminal",
  "log",
  "events",
  "files of NATS",
  "database",
  "data folder",
  "metrics",
  "command lines",
  "traces",
] as const;

export type Place = (typeof PLACES)[number];

/** Where secrets are sent, as steps and providers want it. */
const OUTSIDE = "outside";

/** Something that was seen, named so that people find it again. */
interface Piece {
  place: Place | typeof OUTSIDE;
  what: string;
  content: Buffer;
}

/** A canary where it must not be. */
export interface Leak {
  canary: string;
  place: Place;
  what: string;
  /** What stands around it. The values are of this test only, so they may be shown. */
  excerpt: string;
}

/** What a search has brought. */
export interface Report {
  leaks: Leak[];
  /** By place: which of the values that are no secrets were seen there. */
  controls: Map<Place, Set<string>>;
  /** Canaries that the contract shows and that were seen where it does. */
  shown: Set<string>;
  /** Canaries that were sent outside. */
  used: Set<string>;
}

/** All values that were put anywhere, and all that was seen of the system. */
export interface Evidence {
  /** A value that is no secret, to be seen in every place where it belongs. */
  control(name: string, core: string): void;
  /** A value that must not be seen. The part that nobody else has counts; of one known twice, the first name. */
  hide(canary: Canary): void;
  add(place: Place, what: string, content: Buffer | string): void;
  /** Something that was sent outside. */
  addSent(what: string, content: Buffer | string): void;
  search(): Report;
}

export function gatherEvidence(): Evidence {
  const controls = new Map<string, Canary>();
  const canaries = new Map<string, Canary>();
  const pieces: Piece[] = [];
  return {
    control: (name, core) => void controls.set(core, { name, core }),
    hide(canary) {
      if (!canaries.has(canary.core)) canaries.set(canary.core, canary);
    },
    add: (place, what, content) => void pieces.push({ place, what, content: Buffer.from(content) }),
    addSent: (what, content) =>
      void pieces.push({ place: OUTSIDE, what, content: Buffer.from(content) }),
    search: () => search([...canaries.values()], [...controls.values()], pieces),
  };
}

function search(canaries: Canary[], controls: Canary[], pieces: Piece[]): Report {
  // The finder tells values apart by their names.
  const all = [...canaries, ...controls].map((canary, index) => ({ ...canary, name: `${index}` }));
  const find = createFinder(all);
  const report: Report = {
    leaks: [],
    controls: new Map(PLACES.map((place) => [place, new Set()])),
    shown: new Set(),
    used: new Set(),
  };
  for (const { place, what, content } of pieces) {
    for (const [index, excerpt] of find(content)) {
      const canary = canaries[Number(index)];
      const control = controls[Number(index) - canaries.length];
      if (place === OUTSIDE) report.used.add(canary?.name ?? "no secret");
      else if (control !== undefined) report.controls.get(place)?.add(control.name);
      else if (canary?.shownIn?.test(`${place}: ${what}`) === true) report.shown.add(canary.name);
      else if (canary !== undefined) {
        report.leaks.push({ canary: canary.name, place, what, excerpt });
      }
    }
  }
  return report;
}
