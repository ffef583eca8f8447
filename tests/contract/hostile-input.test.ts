import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ROUTES } from "@workflow/service-gateway/routes";
import { readApiDocument } from "../support/api-document.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { Attacker } from "../support/hostile/attacker.ts";
import { attacksOn, SHARE } from "../support/hostile/attacks.ts";
import { DescribedRequests } from "../support/hostile/described-requests.ts";
import {
  faultOf,
  fieldOf,
  NAMED_OTHERWISE,
  namesField,
  wayOf,
} from "../support/hostile/judge-refusal.ts";
import { replayRefused } from "../support/hostile/replay-refused.ts";
import { nameOf } from "../support/route-requests.ts";

let system: DrivenSystem;
let attacker: Attacker;
beforeAll(async () => {
  system = await startDrivenSystem();
  const document = await readApiDocument();
  const described = await DescribedRequests.read(document);
  attacker = new Attacker(system, described, (route, live) => attacksOn(document, route, live));
});
afterAll(() => system.stop());

describe.each(ROUTES.map((route) => ({ name: nameOf(route), route })))("$name", ({ route }) => {
  it("takes or refuses hostile values of every field, as they are described, and says which field it was", async () => {
    const faults = (await attacker.outcomesOf(route)).flatMap((outcome) => {
      const fault = faultOf(outcome);
      const { attack, answer } = outcome;
      return fault === null
        ? []
        : [`${attack.name} → ${fault}: ${answer.status} ${answer.text.slice(0, 300)}`];
    });
    expect(faults).toEqual([]);
    const misnamed = (await attacker.outcomesOf(route)).filter(
      ({ attack, answer, control }) => control === null && !namesField(attack, answer),
    );
    // No field is excused that needs it no more.
    const excused = Object.keys(NAMED_OTHERWISE).filter((each) =>
      each.startsWith(`${nameOf(route)} `),
    );
    const named = new Set(misnamed.map(({ attack }) => fieldOf(attack)));
    expect(excused).toEqual(expect.arrayContaining([...named]));
    if (SHARE === 1) expect(named).toEqual(new Set(excused));
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

/** Where this case comes first it attacks every route, which takes minutes on a busy machine. */
const ALL_ROUTES_MS = 900_000;

it(
  "what is refused changes nothing",
  async () => {
    const { taken, before, after } = await replayRefused(system, attacker, wayOf);
    expect(taken).toEqual([]);
    expect(after).toEqual(before);
  },
  ALL_ROUTES_MS,
);
