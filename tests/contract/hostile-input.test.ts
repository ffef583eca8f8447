import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { readApiDocument } from "../support/api-document.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { dumpTables } from "../support/dump-tables.ts";
import { Attacker, mapConcurrently } from "../support/hostile/attacker.ts";
import { attacksOn, SHARE } from "../support/hostile/attacks.ts";
import type { Attack } from "../support/hostile/attacks.ts";
import { DescribedRequests } from "../support/hostile/described-requests.ts";
import {
  faultOf,
  fieldOf,
  isRefused,
  NAMED_OTHERWISE,
  namesField,
  wayOf,
} from "../support/hostile/judge-refusal.ts";
import type { LiveRequest } from "../support/live-requests.ts";
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

/** Tries that fail are counted (D10). */
const COUNTED = ["POST /auth/session", "POST /auth/password"];

it(
  "what is refused changes nothing",
  async () => {
    for (const route of ROUTES) await attacker.outcomesOf(route);
    // Endpoints that were let in hear of runs, and have deliveries that are tried for a day.
    await system.database.query(sql.type(z.unknown())`delete from webhooks.deliveries`);
    await system.database.query(sql.type(z.unknown())`delete from webhooks.endpoints`);
    const again: { route: Route; attack: Attack; live: LiveRequest }[] = [];
    for (const route of ROUTES.filter((each) => !COUNTED.includes(nameOf(each)))) {
      const refused = (await attacker.outcomesOf(route)).filter(isRefused);
      // One for each way of refusing a field.
      const ways = new Map(refused.map((each) => [wayOf(each), each.attack]));
      const live = await attacker.prepare(route);
      again.push(...[...ways.values()].map((attack) => ({ route, attack, live })));
    }
    // Tries that were counted are forgotten after a while, which may come in between.
    await system.database.query(sql.type(z.unknown())`delete from gateway.sign_in_tries`);
    // That of the request to try one again goes to where nobody listens, for a day as well.
    await system.database.query(sql.type(z.unknown())`
    update webhooks.deliveries set status = 'failed', next_attempt_at = null where status = 'pending'
  `);
    const before = await dumpTables(system.database);
    const answers = await mapConcurrently(again, async ({ route, attack, live }) => {
      const { status } = await attacker.send(route, attack.toRequest, live);
      return status < 400 ? `${nameOf(route)} ${attack.name}` : null;
    });
    expect(answers.filter((each) => each !== null)).toEqual([]);
    expect(await dumpTables(system.database)).toEqual(before);
  },
  ALL_ROUTES_MS,
);
