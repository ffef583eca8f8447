import { unchanged } from "@workflow/audit";
import { isId, isUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import {
  deleteDeadLetter,
  EVENT_ID_PREFIX,
  listDeadLetters,
  redriveDeadLetters,
} from "@workflow/events";
import type { ChangedLetter, DeadLetter } from "@workflow/events";
import { recordAdminEvent } from "@workflow/service-gateway/admin";
import { listGivenUpEvents, redriveGivenUpEvents } from "@workflow/service-webhooks/admin";
import type { GivenUpEvent } from "@workflow/service-webhooks/admin";
import { actAs } from "./act-as.ts";
import type { Command, FlagValues } from "./command.ts";
import { withDatabase } from "./database.ts";
import { UsageError } from "./usage-error.ts";

/** The services that receive events. Each keeps dead letters in a schema of its name. */
const SERVICES = ["gateway", "integrations", "runs", "webhooks"] as const;
const ALL = "all";
const LIST_MAX = 1_000;
/** How many letters one call redrives. */
const REDRIVE_MAX = 1_000;

/**
 * The service that gives up events whose deliveries it cannot make, and the name of its consumer.
 */
const GIVING_UP = "webhooks";
const DELIVERIES = "webhooks-deliveries";

const SERVICE_FLAG = { placeholder: SERVICES.join("|") };

type Which = { id: string } | { limit: number };

export const listDeadLettersCommand: Command = {
  summary: "Shows the events that services could not handle, see docs/ops/events.md.",
  flags: {
    service: { ...SERVICE_FLAG, default: ALL },
    limit: { placeholder: "COUNT", default: "50" },
  },
  async run(settings, values) {
    const given = values.oneOf("service", [...SERVICES, ALL]);
    const limit = values.wholeNumber("limit", 1, LIST_MAX);
    const services = SERVICES.filter((service) => given === ALL || service === given);
    const [letters, events] = await withDatabase(settings, async (database) => [
      await listAll(database, services, limit),
      services.includes(GIVING_UP) ? await listGivenUp(database, limit) : [],
    ]);
    const lines = [...letters.map(describe), ...events.map(describeGivenUp)];
    return {
      json: { deadLetters: letters, givenUpEvents: events },
      text: lines.length === 0 ? "There is no dead letter." : lines.join("\n"),
    };
  },
};

export const redriveDeadLetterCommand: Command = {
  summary: "Has a dead letter, or all of a service, handled once more by the consumer that failed.",
  flags: { service: SERVICE_FLAG, id: { placeholder: `ID|${ALL}` } },
  async run(settings, values) {
    const service = values.oneOf("service", SERVICES);
    const which =
      values.text("id") === ALL
        ? { limit: REDRIVE_MAX }
        : { id: service === GIVING_UP ? readAnyId(values) : readId(values) };
    const letters = await withDatabase(settings, (database) =>
      database.transaction(async (transaction) => {
        await actAs(transaction, service);
        const redriven = [
          ...(isGivenUp(which) ? [] : await redriveDeadLetters(transaction, service, which)),
          ...(service === GIVING_UP ? await redriveGivenUp(transaction, which) : []),
        ];
        await record(transaction, service, "dead_letter.redriven", redriven);
        return redriven;
      }),
    );
    if ("id" in which && letters.length === 0)
      throw noSuchLetter(service, which.id, " with a body");
    return {
      json: { redriven: letters.map(({ id }) => id) },
      text: `${letters.length} will be handled again within seconds while the service runs.`,
    };
  },
};

export const deleteDeadLetterCommand: Command = {
  summary: "Deletes a dead letter for good.",
  flags: { service: SERVICE_FLAG, id: { placeholder: "ID" } },
  async run(settings, values) {
    const service = values.oneOf("service", SERVICES);
    const id = readId(values);
    await withDatabase(settings, (database) =>
      database.transaction(async (transaction) => {
        await actAs(transaction, service);
        const deleted = await deleteDeadLetter(transaction, service, id);
        if (deleted === null) throw noSuchLetter(service, id);
        await record(transaction, service, "dead_letter.deleted", [deleted]);
      }),
    );
    return { json: { id }, text: `Deleted ${id}` };
  },
};

async function listAll(
  database: Database,
  services: readonly string[],
  limit: number,
): Promise<(DeadLetter & { service: string })[]> {
  const letters = await database.transaction(async (transaction) => {
    const found: (DeadLetter & { service: string })[] = [];
    for (const service of services) {
      await actAs(transaction, service);
      const ofService = await listDeadLetters(transaction, service, limit);
      found.push(...ofService.map((letter) => ({ service, ...letter })));
    }
    return found;
  });
  return letters
    .toSorted((a, b) => b.lastFailedAt.getTime() - a.lastFailedAt.getTime())
    .slice(0, limit);
}

async function listGivenUp(database: Database, limit: number): Promise<readonly GivenUpEvent[]> {
  return database.transaction(async (transaction) => {
    await actAs(transaction, GIVING_UP);
    return listGivenUpEvents(transaction, limit);
  });
}

/** Redrives given-up events as letters of the consumer that makes deliveries. */
async function redriveGivenUp(
  transaction: Transaction,
  which: Which,
): Promise<readonly ChangedLetter[]> {
  if ("id" in which && !isGivenUp(which)) return [];
  const events = await redriveGivenUpEvents(transaction, which);
  return events.map((event) => ({ ...event, eventId: event.id, consumer: DELIVERIES }));
}

function isGivenUp(which: Which): boolean {
  return "id" in which && isId(EVENT_ID_PREFIX, which.id);
}

/** Records each letter in the log of its event's company. */
async function record(
  transaction: Transaction,
  service: string,
  action: "dead_letter.redriven" | "dead_letter.deleted",
  letters: readonly ChangedLetter[],
): Promise<void> {
  await actAs(transaction, "gateway");
  const events = letters.map(({ id, companyId, eventId, type, consumer }) => ({
    companyId,
    action,
    resourceType: "dead_letter",
    resourceId: id,
    changes: unchanged({ service, consumer, eventId, type }),
  }));
  if (events.length > 0) await recordAdminEvent(transaction, ...events);
}

function readId(values: FlagValues): string {
  const id = values.text("id").toLowerCase();
  if (!isUuid(id)) throw new UsageError("--id must be the id of a dead letter");
  return id;
}

/** An id of a letter, or of an event that was given up. */
function readAnyId(values: FlagValues): string {
  const id = values.text("id").toLowerCase();
  return isId(EVENT_ID_PREFIX, id) ? id : readId(values);
}

function noSuchLetter(service: string, id: string, more = ""): UsageError {
  return new UsageError(`${service} has no dead letter ${id}${more}`);
}

function describe(letter: DeadLetter & { service: string }): string {
  const { id, service, consumer, type, eventId, attempts, lastFailedAt, error } = letter;
  const state = letter.isWaiting ? "  waiting to be handled again" : "";
  const body = letter.hasBody ? "" : "  without its body";
  return (
    `${lastFailedAt.toISOString()}  ${id}  ${service} ${consumer}  ${type} ${eventId}  ` +
    `company ${letter.companyId ?? "unknown"}  ${attempts} attempts${state}${body}\n    ${error}`
  );
}

function describeGivenUp({ id, type, companyId, attempts, error, failedAt }: GivenUpEvent): string {
  return (
    `${failedAt.toISOString()}  ${id}  webhooks ${DELIVERIES}  ${type} ${id}  ` +
    `company ${companyId}  ${attempts} attempts, its deliveries were not made\n    ${error ?? ""}`
  );
}
