import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ROUTES } from "@workflow/service-gateway/routes";
import { readApiDocument } from "../support/api-document.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { Attacker } from "../support/hostile/attacker.ts";
import { DescribedRequests } from "../support/hostile/described-requests.ts";
import { faultOf } from "../support/hostile/judge-refusal.ts";
import { wrongShapesOf } from "../support/hostile/wrong-shapes.ts";
import { nameOf } from "../support/route-requests.ts";

/*
 * The matrix of validation: every route of the table gets every request that differs from its description in one
 * place. What the description does not allow is refused, and the refusal names the field. A name that the
 * description does not know is ignored.
 */

let system: DrivenSystem;
let attacker: Attacker;
beforeAll(async () => {
  system = await startDrivenSystem();
  const document = await readApiDocument();
  const described = await DescribedRequests.read(document);
  attacker = new Attacker(system, described, (route, live) =>
    wrongShapesOf({ document, described }, route, live),
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
});
