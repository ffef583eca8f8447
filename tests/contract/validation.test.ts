import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ROUTES } from "@workflow/service-gateway/routes";
import { readApiDocument } from "../support/api-document.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { Attacker } from "../support/hostile/attacker.ts";
import { DescribedRequests } from "../support/hostile/described-requests.ts";
import { faultOf } from "../support/hostile/judge-refusal.ts";
import { replayRefused } from "../support/hostile/replay-refused.ts";
import { untriedFields, wrongShapesOf } from "../support/hostile/wrong-shapes.ts";
import type { Descriptions } from "../support/hostile/wrong-shapes.ts";
import { nameOf } from "../support/route-requests.ts";

/*
 * The matrix of validation: every route of the table gets every request that differs from its description in one
 * place, however deep: a step is tried in each of its types. What the description does not allow is refused, and the
 * refusal names the field. A name that the description does not know is ignored.
 */

/** Fields that a request has to have together, which it is made without, and the route. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  "PATCH /dashboards/{id}/widgets/{widgetId}": ["x", "y", "w", "h"],
};

let system: DrivenSystem;
let attacker: Attacker;
let descriptions: Descriptions;
beforeAll(async () => {
  system = await startDrivenSystem();
  const document = await readApiDocument();
  const described = await DescribedRequests.read(document);
  descriptions = { document, described };
  attacker = new Attacker(system, described, (route, live) =>
    wrongShapesOf(descriptions, route, live),
  );
});
afterAll(() => system.stop());

describe.each(ROUTES.map((route) => ({ name: nameOf(route), route })))("$name", ({ route }) => {
  it("refuses what is not described, and names the field", async () => {
    const outcomes = await attacker.outcomesOf(route);
    expect(outcomes).not.toEqual([]);
    const faults = outcomes.flatMap((outcome) => {
      const fault = faultOf(outcome);
      const { attack, answer } = outcome;
      return fault === null
        ? []
        : [`${attack.name} → ${fault}: ${answer.status} ${answer.text.slice(0, 300)}`];
    });
    expect(faults).toEqual([]);
  });

  it("is tried with every field that it describes", async () => {
    const untried = untriedFields(descriptions, route, await attacker.prepare(route));
    expect(untried).toEqual(TOGETHER[nameOf(route)] ?? []);
  });
});

/** Where this case comes first it tries every route. */
const ALL_ROUTES_MS = 900_000;

it(
  "what is refused changes nothing",
  async () => {
    // The members of a body are refused alike, whatever in them is wrong.
    const { taken, before, after } = await replayRefused(
      system,
      attacker,
      ({ attack: { name, place }, answer: { status }, isWrong }) => {
        const [what] = name.split(" ");
        return isWrong ? `${what} ${place?.[0] ?? name} ${status}` : null;
      },
    );
    expect(taken).toEqual([]);
    expect(after).toEqual(before);
  },
  ALL_ROUTES_MS,
);
