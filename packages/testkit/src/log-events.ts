import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/**
 * Makes the database keep every event that a service writes into its outbox, in `<schema>.event_log`
 * (seq, id, type, company_id, stream, payload). The outbox itself deletes published events.
 */
export async function logEvents(database: Database, schema = "runs"): Promise<void> {
  const log = sql.identifier([schema, "event_log"]);
  const logEvent = sql.identifier([schema, "log_event"]);
  await database.query(sql.type(nothing)`
    create table ${log} (
      seq bigint not null, id text, type text, company_id uuid, stream text, payload json
    )
  `);
  await database.query(sql.type(nothing)`
    create function ${logEvent}() returns trigger language plpgsql security definer as $$
    begin
      insert into ${log} (seq, id, type, company_id, stream, payload)
      values (new.seq, new.id, new.type, new.company_id, new.stream, new.payload);
      return null;
    end $$
  `);
  await database.query(sql.type(nothing)`
    create trigger log_event after insert on ${sql.identifier([schema, "outbox"])}
    for each row execute function ${logEvent}()
  `);
}
