import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createDeadLetters, createInProcessEventBus } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { createTestDatabase, waitFor } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { pino } from "pino";
import { z } from "zod";
import { readCommandLine } from "../src/admin/command-line.ts";
import type { CommandResult } from "../src/admin/command.ts";
import { readAdminSettings } from "../src/admin/settings.ts";

const CONSUMER = { stream: "tables", consumer: "runs-table-triggers" };
const SECRET = "a value of a row";
const listed = z.object({
  deadLetters: z.array(z.looseObject({ id: z.uuid(), service: z.string(), eventId: z.string() })),
});
const logged = z.object({
  events: z.array(z.looseObject({ action: z.string(), resourceId: z.string() })),
});

let testDatabase: TestDatabase;
let database: Database;
let bus: EventBus;
let handled: string[];
let isBroken = true;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = await openDatabase({
    connectionUri: testDatabase.connectionUri,
    role: "workflow_runs",
    applicationName: "dead-letters-test",
  });
  bus = createInProcessEventBus({ consumers: {} });
  handled = [];
  await bus.subscribe({
    ...CONSUMER,
    handler: async ({ id }) => {
      if (isBroken) throw new Error("The row is unreadable.");
      handled.push(id);
    },
    deadLetters: createDeadLetters({
      database,
      schema: "runs",
      logger: pino({ level: "silent" }),
      tries: 1,
      pollEveryMs: 20,
    }),
  });
});
afterAll(async () => {
  await bus.close();
  await database.end();
  await testDatabase.close();
});

/** Runs a command as the command line would. */
async function run(words: string): Promise<CommandResult> {
  const line = readCommandLine(words.split(" "));
  if (line === null) throw new Error("This asks for help.");
  const { connectionUri } = testDatabase;
  return line.command.run(readAdminSettings({ DATABASE_URL: connectionUri }), line.values);
}

async function list(flags = "") {
  const { json, text } = await run(`list-dead-letters${flags}`);
  return { text, letters: listed.parse(json).deadLetters };
}

async function newestEvent() {
  const [newest] = logged.parse((await run("audit-log --limit 1")).json).events;
  return newest;
}

/** Publishes an event that becomes a dead letter; returns its ids. */
async function makeLetter(): Promise<{ id: string; eventId: string }> {
  isBroken = true;
  const eventId = newId("evt_");
  const type = "table.row_created";
  const envelope = { id: eventId, type, timestamp: new Date().toISOString(), companyId: newUuid() };
  const body = JSON.stringify({ ...envelope, data: { value: SECRET } });
  await bus.publish([{ id: eventId, stream: CONSUMER.stream, type, body }]);
  const letter = (await list()).letters.find((each) => each.eventId === eventId);
  if (letter === undefined) throw new Error("It is no dead letter.");
  return { id: letter.id, eventId };
}

describe("npm run admin", () => {
  it("lists dead letters with their cause, and without what is in them", async () => {
    const { id, eventId } = await makeLetter();
    const { letters, text } = await list(" --service runs");
    expect(letters).toEqual([
      expect.objectContaining({
        id,
        service: "runs",
        ...CONSUMER,
        eventId,
        type: "table.row_created",
        attempts: 1,
        error: "INTERNAL_ERROR: The row is unreadable.",
        hasBody: true,
        isWaiting: false,
      }),
    ]);
    expect(text).toContain(id);
    expect(text + JSON.stringify(letters)).not.toContain(SECRET);
    expect((await list(" --service gateway")).text).toBe("There is no dead letter.");
    expect((await list(" --limit 1")).letters).toHaveLength(1);
    await run(`delete-dead-letter --service runs --id ${id}`);
  });

  it("has one handled again, or all, and tells the audit log", async () => {
    const [first, second] = [await makeLetter(), await makeLetter()];
    isBroken = false;
    await run(`redrive-dead-letter --service runs --id ${first.id.toUpperCase()}`);
    await waitFor(() => handled.includes(first.eventId));
    expect(handled).toEqual([first.eventId]);
    expect(await newestEvent()).toMatchObject({
      action: "dead_letter.redriven",
      resourceType: "dead_letter",
      resourceId: first.id,
      actorType: "operator",
    });
    const { json } = await run("redrive-dead-letter --service runs --id all");
    expect(json).toEqual({ redriven: [second.id] });
    await waitFor(async () => (await list()).letters.length === 0);
    expect(handled).toEqual([first.eventId, second.eventId]);
  });

  it("deletes one for good, and tells the audit log", async () => {
    const { id } = await makeLetter();
    await run(`delete-dead-letter --service runs --id ${id}`);
    expect((await list()).letters).toEqual([]);
    expect(await newestEvent()).toMatchObject({
      action: "dead_letter.deleted",
      resourceId: id,
    });
  });

  it("says what is wrong with an id or a service", async () => {
    const unknown = newUuid();
    for (const [words, text] of [
      [`redrive-dead-letter --service runs --id ${unknown}`, `no dead letter ${unknown}`],
      [`delete-dead-letter --service webhooks --id ${unknown}`, `no dead letter ${unknown}`],
      ["delete-dead-letter --service runs --id all", "--id must be the id of a dead letter"],
      ["redrive-dead-letter --service tables --id all", "--service must be one of"],
      ["list-dead-letters --limit 0", "--limit must be a whole number"],
    ] as const) {
      await expect(run(words)).rejects.toThrow(text);
    }
  });

  it("lists events whose deliveries could not be made, and has them made again", async () => {
    const [id, companyId] = [newId("evt_"), newUuid()];
    const webhooks = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      role: "workflow_webhooks",
      applicationName: "dead-letters-test",
    });
    try {
      await webhooks.query(sql.type(z.object({}))`
        insert into webhooks.outbound_events (
          id, company_id, type, occurred_at, envelope, attempts, error, failed_at
        ) values (
          ${id}, ${companyId}, 'workflow.completed', now(), ${JSON.stringify({ value: SECRET })},
          20, 'Failed 20 times.', now()
        )
      `);
      const { json, text } = await run("list-dead-letters");
      expect(json).toMatchObject({
        givenUpEvents: [{ id, companyId, attempts: 20, error: "Failed 20 times." }],
      });
      expect(text).toContain(id);
      expect(text + JSON.stringify(json)).not.toContain(SECRET);
      const redriven = await run(`redrive-dead-letter --service webhooks --id ${id}`);
      expect(redriven.json).toEqual({ redriven: [id] });
      const isDue = sql.type(z.object({}))`
        select from webhooks.outbound_events where id = ${id} and due_at <= now() and attempts = 0
      `;
      expect(await webhooks.exists(isDue)).toBe(true);
      expect(await newestEvent()).toMatchObject({
        action: "dead_letter.redriven",
        resourceId: id,
      });
      expect((await run("list-dead-letters")).json).toMatchObject({ givenUpEvents: [] });
      await expect(run(`redrive-dead-letter --service webhooks --id ${id}`)).rejects.toThrow(id);
    } finally {
      await webhooks.end();
    }
  });
});
