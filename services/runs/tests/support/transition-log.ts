import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { logEvents } from "@workflow/testkit";
import { z } from "zod";
import { isTerminal, RUN_STATUSES, RUN_TRANSITIONS } from "../../src/domain/run-status.ts";
import type { RunStatus } from "../../src/domain/run-status.ts";

const nothing = z.object({});
const status = z.enum(RUN_STATUSES);
const storyRow = z.object({
  statuses: z.array(status),
  events: z.array(z.string()),
  began: z.boolean(),
  tasks: z.number(),
  open_steps: z.number(),
});

/** Everything that the database saw of a run. */
export type RunStory = z.infer<typeof storyRow>;

/** Has the database itself note each change of a run's status, and each event, so that none goes unseen. */
export async function logTransitions(database: Database): Promise<void> {
  await logEvents(database);
  await database.query(sql.type(nothing)`
    create table runs.transition_log (
      seq bigint generated always as identity, run_id text not null, status text not null
    )
  `);
  await database.query(sql.type(nothing)`
    create function runs.log_transition() returns trigger language plpgsql security definer as $$
    begin
      insert into runs.transition_log (run_id, status) values (new.id, new.status);
      return null;
    end $$
  `);
  // Whatever is done to a run that has ended counts, also when it does not change the status.
  await database.query(sql.type(nothing)`
    create trigger log_transition after insert or update on runs.runs
    for each row execute function runs.log_transition()
  `);
}

/** What became of a run: its statuses in order, its events, and what is left of its execution. */
export async function readStory(database: Database, runId: string): Promise<RunStory> {
  return database.one(sql.type(storyRow)`
    select
      (select array_agg(status order by seq) from runs.transition_log where run_id = ${runId})
        as statuses,
      array(
        select type from runs.event_log where payload -> 'data' ->> 'runId' = ${runId} order by seq
      ) as events,
      (select started_at is not null from runs.runs where id = ${runId}) as began,
      (select count(*)::integer from runs.tasks where run_id = ${runId}) as tasks,
      (select count(*)::integer from runs.open_steps where run_id = ${runId}) as open_steps
  `);
}

/** What is wrong with the story of a run that has ended; empty when nothing is. */
export function faultsOf(story: RunStory): string[] {
  const faults: string[] = [];
  const { statuses, events } = story;
  if (statuses[0] !== "pending") faults.push(`begins as ${statuses[0]}`);
  for (const [index, next] of statuses.entries()) {
    const last = statuses[index - 1];
    if (last === undefined || (last === next && !isTerminal(last))) continue;
    const legal: readonly RunStatus[] = RUN_TRANSITIONS[last];
    if (!legal.includes(next)) faults.push(`${last} → ${next}`);
  }
  const end = statuses.at(-1);
  if (end === undefined || !isTerminal(end)) return [...faults, `has not ended: ${end}`];
  const expected = [...(story.began ? ["workflow.started"] : []), `workflow.${end}`];
  const told = events.filter((type) => type !== "workflow.checkpoint");
  if (told.join() !== expected.join()) faults.push(`${end} with the events ${told.join(", ")}`);
  if (story.tasks > 0) faults.push("its task is still there");
  if (story.open_steps > 0) faults.push("steps of it are still open");
  return faults;
}
