import { sql } from "@workflow/db";
import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import type { DrivenSystem } from "../driven-system.ts";
import { dumpTables } from "../dump-tables.ts";
import type { LiveRequest } from "../live-requests.ts";
import { nameOf } from "../route-requests.ts";
import { mapConcurrently } from "./attacker.ts";
import type { Attacker } from "./attacker.ts";
import type { Attack } from "./attacks.ts";
import { isRefused } from "./judge-refusal.ts";
import type { Outcome } from "./judge-refusal.ts";

/** Tries that fail are counted (D10). */
const COUNTED = ["POST /auth/session", "POST /auth/password"];

/** The effect of attacks that were refused before and came again. */
export interface Replayed {
  /** The names of attacks that were taken this time. */
  readonly taken: readonly string[];
  /** All tables before and after the attacks. */
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
}

/**
 * Sends refused attacks of every route once more, when nothing else is under way.
 *
 * @param wayOf tells which attacks on a route are refused in the same way; one of them is sent, and none of null
 */
export async function replayRefused(
  { database }: Pick<DrivenSystem, "database">,
  attacker: Attacker,
  wayOf: (outcome: Outcome) => string | null,
): Promise<Replayed> {
  for (const route of ROUTES) await attacker.outcomesOf(route);
  // Endpoints that were let in hear of runs, and have deliveries that are tried for a day.
  await database.query(sql.type(z.unknown())`delete from webhooks.deliveries`);
  await database.query(sql.type(z.unknown())`delete from webhooks.endpoints`);
  const again: { route: Route; attack: Attack; live: LiveRequest }[] = [];
  for (const route of ROUTES.filter((each) => !COUNTED.includes(nameOf(each)))) {
    const refused = (await attacker.outcomesOf(route)).filter(isRefused);
    const ways = new Map(refused.map((each) => [wayOf(each), each.attack]));
    ways.delete(null);
    const live = await attacker.prepare(route);
    again.push(...[...ways.values()].map((attack) => ({ route, attack, live })));
  }
  // Tries that were counted are forgotten after a while, which may come in between.
  await database.query(sql.type(z.unknown())`delete from gateway.sign_in_tries`);
  // That of the request to try one again goes to where nobody listens, for a day as well.
  await database.query(sql.type(z.unknown())`
    update webhooks.deliveries set status = 'failed', next_attempt_at = null where status = 'pending'
  `);
  const before = await dumpTables(database);
  const answers = await mapConcurrently(again, async ({ route, attack, live }) => {
    const { status } = await attacker.send(route, attack.toRequest, live);
    return status < 400 ? [`${nameOf(route)} ${attack.name}`] : [];
  });
  return { taken: answers.flat(), before, after: await dumpTables(database) };
}
