import { Batcher, Shares } from "@workflow/async";
import type { Asked } from "@workflow/async";
import { databaseErrorToAppError } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Deployment, DeploymentCache } from "../deployments/deployment-cache.ts";
import type { Backlog } from "../starting/backlog.ts";
import { newRun } from "../starting/new-run.ts";
import type { StoringContext } from "../starting/start-in-transaction.ts";
import { storeRuns } from "../starting/store-runs.ts";
import type { NewRun } from "../store/start-runs.ts";
import { listStarted, listWaitingForEach } from "../store/triggering-events.ts";
import type { StartedRuns } from "../store/triggering-events.ts";
import type { WebhookEvent } from "./webhook-event.ts";

/** The dependencies of starting. */
export interface EventStarterContext extends StoringContext {
  deployments: DeploymentCache;
  backlog: Backlog;
}

/** An event and how many tries have failed, with the caller who waits for its runs. */
type WaitingEvent = Asked<{ event: WebhookEvent; tries: number }, StartedRuns>;

/** An event and the runs that it is to start, at least one. */
interface Planned {
  waiting: WaitingEvent;
  runs: readonly NewRun[];
}

/** An event that starts nothing now, and the answer to it unless it has started its runs before. */
interface Unstarted {
  waiting: WaitingEvent;
  because: "nobody waits" | "overtaken" | { error: unknown };
}

const BATCH_MAX = 100;
const BATCH_CHARS_MAX = 8 * 1024 * 1024;
/** Two batches at a time: one looks up its workflows while the other waits for its commit. */
const BATCHES_MAX = 2;
/** The limits of one statement, unless a single event starts more. */
const STATEMENT_MAX = { runs: 200, chars: 8 * 1024 * 1024 } as const;
/** The limits of one event: its runs are stored together, or not at all. */
const EVENT_MAX = { runs: 1_000, chars: 64 * 1024 * 1024 } as const;
/** An event is given up after it was overtaken so often by changes of its workflows. */
const OVERTAKEN_MAX = 5;
/** Characters that wait here in all, and of one company. Callers defer events that find no room. */
const WAITING_CHARS = { total: 128 * 1024 * 1024, perTenant: 32 * 1024 * 1024 } as const;
const RETRY_AFTER_MS = 1_000;

/**
 * Starts the runs of events that arrive in great numbers, from many companies. Events that arrive while
 * earlier ones are being stored share statements, in turns between companies (D57). An event starts one
 * run of each active workflow that waits for it, all or none, once. An event that comes again gets the
 * first answer again. Unlike `startTriggeredRuns` it is for events that no run has caused.
 */
export class EventStarter {
  readonly #context: EventStarterContext;
  readonly #events = new Batcher<WaitingEvent["item"], StartedRuns>({
    itemsMax: BATCH_MAX,
    sizeMax: BATCH_CHARS_MAX,
    sizeOf: ({ event }) => charsOf(event),
    // The same event is started once in a batch.
    keyOf: ({ event }) => `${event.companyId} ${event.id}`,
    tenantOf: ({ event }) => event.companyId,
    batchesMax: BATCHES_MAX,
    handle: (batch) => this.#startBatch(batch),
  });
  readonly #places = new Shares(WAITING_CHARS);

  constructor(context: EventStarterContext) {
    this.#context = context;
  }

  /**
   * Resolves after the commit.
   *
   * @throws AppError RATE_LIMITED when the company has too many pending runs, BAD_REQUEST when the event
   * would start more runs than it may, UNAVAILABLE when too much waits already, or workflows are changed
   * all the time
   */
  async start(event: WebhookEvent): Promise<StartedRuns> {
    const leave = this.#places.take(event.companyId, charsOf(event));
    if (leave === null) throw unavailable("Too many events wait for their runs; try again.");
    try {
      return await this.#events.ask({ event, tries: 0 });
    } finally {
      leave();
    }
  }

  /** Answers each of the events or puts it back. */
  async #startBatch(batch: readonly WaitingEvent[]): Promise<void> {
    const planned: Planned[] = [];
    const unstarted: Unstarted[] = [];
    for (const plan of await Promise.all((await this.#plan(batch)).map((p) => this.#admit(p)))) {
      if ("because" in plan) unstarted.push(plan);
      else planned.push(plan);
    }
    await this.#explain(unstarted);
    for (const statement of inStatements(planned)) await this.#store(statement);
  }

  async #plan(batch: readonly WaitingEvent[]): Promise<Planned[]> {
    const { database, deployments, runtime } = this.#context;
    const things = new Map(batch.map(({ item: { event } }) => [keyOf(event), event]));
    const found = await listWaitingForEach(database, things, EVENT_MAX.runs + 1);
    const loaded = await deployments.getMany([...found.values()].flat());
    return batch.map((waiting) => {
      const { input, inputValue, triggerData, requestId, traceparent } = waiting.item.event;
      const caused = { requestId, traceparent };
      const facts = { triggerType: "webhook", input, inputValue, triggerData, ...caused } as const;
      const runs = (found.get(keyOf(waiting.item.event)) ?? [])
        .flatMap((deploymentId) => loaded.get(deploymentId) ?? [])
        .filter(isExecutable)
        .map((deployment) => newRun(runtime, deployment, facts));
      return { waiting, runs };
    });
  }

  async #admit(plan: Planned): Promise<Planned | Unstarted> {
    const { waiting, runs } = plan;
    if (runs.length === 0) return { waiting, because: "nobody waits" };
    try {
      checkSize(plan);
      await this.#context.backlog.admit(waiting.item.event.companyId, runs.length);
      return plan;
    } catch (error) {
      return { waiting, because: { error } };
    }
  }

  async #store(planned: readonly Planned[]): Promise<void> {
    let stored: ReadonlySet<string>;
    try {
      const runs = planned.flatMap((each) => each.runs);
      stored = await storeRuns(this.#context, runs, planned.map(toClaim));
    } catch (error) {
      const isAway = databaseErrorToAppError(error).reason === "UNAVAILABLE";
      // An event that cannot be stored must not fail the others.
      if (planned.length > 1 && !isAway) for (const each of planned) await this.#store([each]);
      else for (const { waiting } of planned) waiting.reject(error);
      return;
    }
    const overtaken: Unstarted[] = [];
    for (const { waiting, runs } of planned) {
      // All of an event's runs are stored, or none.
      if (runs.every(({ id }) => stored.has(id))) waiting.resolve(startedBy(runs));
      else overtaken.push({ waiting, because: "overtaken" });
    }
    await this.#explain(overtaken);
  }

  /**
   * If an event has started runs before, these are the answer, whatever keeps it from starting them now.
   */
  async #explain(unstarted: readonly Unstarted[]): Promise<void> {
    if (unstarted.length === 0) return;
    const keys = unstarted.map(({ waiting }) => {
      const { companyId, id: eventId } = waiting.item.event;
      return { companyId, eventId };
    });
    const earlier = await listStarted(this.#context.database, keys);
    unstarted.forEach(({ waiting, because }, place) => {
      const started = earlier.get(place);
      if (started !== undefined) waiting.resolve(started);
      else if (because === "nobody waits") waiting.resolve([]);
      else if (because === "overtaken") this.#tryAgain(waiting);
      else waiting.reject(because.error);
    });
  }

  #tryAgain({ item, resolve, reject }: WaitingEvent): void {
    const tries = item.tries + 1;
    if (tries < OVERTAKEN_MAX) resolve(this.#events.ask({ ...item, tries }));
    else reject(unavailable("Workflows that wait for the event are being changed."));
  }
}

function unavailable(message: string): AppError {
  return new AppError("UNAVAILABLE", message, { retryAfterMs: RETRY_AFTER_MS });
}

function charsOf({ input, triggerData }: WebhookEvent): number {
  return input.length + triggerData.length;
}

function keyOf({ companyId, triggerKey }: WebhookEvent): string {
  return `${companyId} ${triggerKey}`;
}

/** A deployment that this release cannot execute was logged when it was loaded. */
function isExecutable({ compiled }: Deployment): boolean {
  return compiled !== null;
}

function checkSize({ waiting, runs }: Planned): void {
  const { event } = waiting.item;
  if (runs.length <= EVENT_MAX.runs && runs.length * charsOf(event) <= EVENT_MAX.chars) return;
  const message =
    runs.length > EVENT_MAX.runs
      ? `An event starts at most ${EVENT_MAX.runs} runs; more active workflows wait for this one.`
      : `The inputs of the ${runs.length} runs that the event would start are larger than ${EVENT_MAX.chars} characters together.`;
  throw new AppError("BAD_REQUEST", message);
}

function toClaim({ waiting, runs }: Planned) {
  const { event } = waiting.item;
  return {
    companyId: event.companyId,
    eventId: event.id,
    runIds: runs.map(({ id }) => id),
  };
}

function startedBy(runs: readonly NewRun[]): StartedRuns {
  return runs.map(({ id, workflowId }) => ({ workflowId, runId: id }));
}

/** Distributes events over statements, small events first: nobody waits for one that starts many runs. */
function* inStatements(planned: readonly Planned[]): Generator<readonly Planned[]> {
  let statement: Planned[] = [];
  let size = { runs: 0, chars: 0 };
  for (const each of planned.toSorted((one, other) => one.runs.length - other.runs.length)) {
    const runs = each.runs.length;
    const chars = runs * charsOf(each.waiting.item.event);
    const fits =
      size.runs + runs <= STATEMENT_MAX.runs && size.chars + chars <= STATEMENT_MAX.chars;
    if (statement.length > 0 && !fits) {
      yield statement;
      statement = [];
      size = { runs: 0, chars: 0 };
    }
    statement.push(each);
    size = { runs: size.runs + runs, chars: size.chars + chars };
  }
  if (statement.length > 0) yield statement;
}
