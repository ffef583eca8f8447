import type { CompanyQueues } from "./company-queues.ts";
import { ExpressionError } from "./expression-error.ts";
import type { Job } from "./job.ts";
import type { EvaluatorAnswer } from "./protocol.ts";
import type { Evaluator, EvaluatorEvents } from "./start-evaluator.ts";

/** Hands waiting jobs to processes, in turns between companies, and keeps both within limits. */
export interface Dispatcher {
  /** To be told when something waits. */
  wake(): void;
  /** How many processes are at work. */
  readonly running: number;
  /** Ends the processes; answers what they had not finished. */
  close(): Promise<Job[]>;
}

/** What a dispatcher works with. Times are in milliseconds. */
export interface DispatcherOptions {
  queues: CompanyQueues;
  startEvaluator(events: EvaluatorEvents): Evaluator;
  processes: number;
  timeoutMs: number;
  memoryMiB: number;
}

/** A process. */
interface Member {
  evaluator: Evaluator;
  /** Whether it is ready; before, its time includes its start. */
  warm: boolean;
  /** How many it has answered. */
  answered: number;
  /** Sent and not answered yet, in order; the first is being evaluated. */
  jobs: Job[];
  /** When the first was begun. */
  since: number;
  /** Its processor time when the first was looked at for the first time; null: not yet, or unknown. */
  cpuFrom: number | null;
  /** Whether it has yet to confirm that it has dropped what was taken back from it. */
  dropping: boolean;
}

/**
 * Requests sent to a process at a time: enough that a busy main thread does not starve it, and few
 * enough that those behind a slow one are soon repeated elsewhere. With the main thread
 * busy in slices of 4 ms, 100 callers get 5,600 evaluations/s with 16 and 480 with one (idle: 19,000
 * and 5,000; 64 is no better than 16); two cores, three processes, an expression of a sum.
 */
const BATCH_MAX = 16;
/** What a process may take to start, on a machine under load. */
const START_MS_MAX = 10_000;
/** How often running evaluations are looked at. */
const WATCH_MS = 25;
/**
 * How much longer an evaluation may take than it computes: on a busy machine it waits for its turn, and
 * its answer for this process to read it. Neither is the expression's fault.
 */
const WALL_FACTOR = 15;
/** After so long others wait no more behind an evaluation, nor for a company that has many. */
const PATIENCE_MS = 50;

/** Makes a dispatcher; its processes start when they are needed. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new ProcessDispatcher(options);
}

class ProcessDispatcher implements Dispatcher {
  readonly #queues: CompanyQueues;
  readonly #options: DispatcherOptions;
  readonly #processes: number;
  readonly #timeoutMs: number;
  readonly #memoryMiB: number;
  /** Processes that one company may keep while others have none. */
  readonly #companyShare: number;
  readonly #members = new Set<Member>();
  #watching: NodeJS.Timeout | undefined;
  #woken = false;
  #closed = false;

  constructor(options: DispatcherOptions) {
    const { queues, processes, timeoutMs, memoryMiB } = options;
    this.#options = options;
    this.#queues = queues;
    this.#processes = processes;
    this.#timeoutMs = timeoutMs;
    this.#memoryMiB = memoryMiB;
    this.#companyShare = Math.max(1, Math.floor(processes / 2));
  }

  get running(): number {
    return [...this.#members].filter((member) => !isIdle(member)).length;
  }

  async close(): Promise<Job[]> {
    this.#closed = true;
    clearInterval(this.#watching);
    const ending = [...this.#members].map(({ evaluator }) => evaluator.kill());
    const unfinished = [...this.#members].flatMap(({ jobs }) => jobs.splice(0));
    this.#members.clear();
    await Promise.all(ending);
    return unfinished;
  }

  #startMember(): Member {
    const evaluator = this.#options.startEvaluator({
      onAnswer: (answer) => this.#settle(member, answer),
      onCrash: () => this.#fail(member, outOfMemory(this.#memoryMiB)),
      onFailure: (error) => this.#fail(member, error),
    });
    const since = performance.now();
    const state = { warm: false, answered: 0, jobs: [], since, cpuFrom: null, dropping: false };
    const member: Member = { evaluator, ...state };
    this.#members.add(member);
    return member;
  }

  /** Ends a process; answers what it had not finished. */
  #end(member: Member): Job[] {
    this.#members.delete(member);
    void member.evaluator.kill();
    return member.jobs.splice(0);
  }

  #settle(member: Member, answer: EvaluatorAnswer): void {
    if (answer === "ready") {
      member.warm = true;
      beginTime(member);
      return;
    }
    const [job] = member.jobs;
    if (answer === "dropped") {
      member.dropping = false;
    } else if (job?.request.id === answer.id) {
      member.jobs.shift();
      beginTime(member);
      member.answered += 1;
      finish(job, () => job.resolve(answer));
    }
    if (isIdle(member)) this.wake();
  }

  /** A process that others had used may have failed for what they left in it: one more try (M4). */
  #fail(member: Member, error: Error): void {
    if (!this.#members.has(member)) return;
    const [first, ...others] = this.#end(member);
    if (first !== undefined && member.answered > 0 && !first.alone) {
      first.alone = true;
      this.#queues.putBack([first, ...others]);
    } else {
      this.#queues.putBack(others);
      if (first !== undefined) finish(first, () => first.reject(error));
    }
    this.wake();
  }

  #timeOut(member: Member): void {
    const [first, ...others] = this.#end(member);
    this.#queues.putBack(others);
    if (first !== undefined) finish(first, () => first.reject(tooLong(this.#timeoutMs)));
  }

  #runningOf(companyId: string): number {
    return [...this.#members].filter(({ jobs }) => jobs[0]?.companyId === companyId).length;
  }

  /** Whoever has the fewest processes; among equals who has waited longest for a turn. */
  #nextCompany(): string | undefined {
    let next: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const companyId of this.#queues.companies()) {
      const running = this.#runningOf(companyId);
      if (running < fewest) [next, fewest] = [companyId, running];
      if (fewest === 0) break;
    }
    return next;
  }

  #findMember(job: Job): Member | undefined {
    const idle = [...this.#members].find(isIdle);
    if (!job.alone && idle !== undefined) return idle;
    if (job.alone && idle !== undefined && this.#members.size >= this.#processes) this.#end(idle);
    return this.#members.size < this.#processes ? this.#startMember() : undefined;
  }

  /** The first company's next job, and, for as long as there is room, those whose turn comes then. */
  #takeBatch(companyId: string): Job[] {
    // Spread over the processes that may be had, so that a slow one holds up little.
    const share = Math.min(BATCH_MAX, Math.ceil(this.#queues.size / this.#processes));
    const first = this.#queues.takeFirst(companyId);
    if (first === undefined || first.alone) return first === undefined ? [] : [first];
    const batch = [first];
    while (batch.length < share) {
      const next = this.#queues.nextInTurn();
      if (next === undefined || next.alone) break;
      this.#queues.takeFirst(next.companyId);
      batch.push(next);
    }
    return batch;
  }

  #dispatch(): void {
    for (
      let companyId = this.#nextCompany();
      companyId !== undefined;
      companyId = this.#nextCompany()
    ) {
      const job = this.#queues.first(companyId);
      const member = job && this.#findMember(job);
      if (member === undefined) break;
      member.jobs = this.#takeBatch(companyId);
      beginTime(member);
      member.evaluator.send(member.jobs.map(({ request }) => request));
    }
    this.#watch();
  }

  /** Runs once per turn of the event loop, so that requests made together travel together. */
  wake(): void {
    if (this.#woken || this.#closed) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      if (!this.#closed) this.#dispatch();
    });
  }

  #watch(): void {
    const isBusy = [...this.#members].some((member) => !isIdle(member));
    if (isBusy && this.#watching === undefined) {
      // Answers that came while this thread was busy are heard first.
      this.#watching = setInterval(() => setImmediate(() => this.#look()), WATCH_MS);
    } else if (!isBusy) {
      clearInterval(this.#watching);
      this.#watching = undefined;
    }
  }

  #look(): void {
    if (this.#closed) return;
    const now = performance.now();
    for (const member of this.#members) {
      const ranMs = now - member.since;
      if (isIdle(member)) continue;
      if (isLate(member, ranMs, this.#timeoutMs)) this.#timeOut(member);
      else if (member.warm && ranMs > PATIENCE_MS) this.#relieve(member);
    }
    this.#dispatch();
    this.#makeRoom(now);
  }

  /** Those behind a slow evaluation need not wait for it; one that was given up is not finished. */
  #relieve(member: Member): void {
    const [first, ...behind] = member.jobs;
    this.#queues.putBack(behind);
    if (first?.done === true) {
      this.#end(member);
    } else if (behind.length > 0) {
      member.jobs = member.jobs.slice(0, 1);
      member.dropping = true;
      member.evaluator.send("drop");
    }
  }

  /** Who has no process gets one of a company that has more than its share. */
  #makeRoom(now: number): void {
    const isStarved = this.#queues
      .companies()
      .some((companyId) => this.#runningOf(companyId) === 0);
    if (!isStarved) return;
    const victim = [...this.#members]
      .filter(({ jobs: [job], since, warm }) => {
        if (job === undefined || job.preempted || !warm || now - since < PATIENCE_MS) return false;
        return this.#runningOf(job.companyId) > this.#companyShare;
      })
      .toSorted((one, other) => other.since - one.since)[0];
    if (victim === undefined) return;
    const jobs = this.#end(victim);
    if (jobs[0] !== undefined) jobs[0].preempted = true;
    this.#queues.putBack(jobs);
    this.#dispatch();
  }
}

function beginTime(member: Member): void {
  member.since = performance.now();
  member.cpuFrom = null;
}

/**
 * Whether an evaluation has had its time. Only what it computes counts, as far as the system tells; what
 * came before the first look, a few hundredths of a second, counts whole.
 */
function isLate(member: Member, ranMs: number, timeoutMs: number): boolean {
  if (!member.warm) return ranMs > timeoutMs * WALL_FACTOR + START_MS_MAX;
  if (ranMs > timeoutMs * WALL_FACTOR) return true;
  const cpuMs = member.evaluator.cpuMs();
  if (cpuMs === null) return ranMs > timeoutMs;
  member.cpuFrom ??= cpuMs - Math.min(ranMs, WATCH_MS);
  return cpuMs - member.cpuFrom > timeoutMs;
}

function isIdle({ jobs, dropping }: Member): boolean {
  return jobs.length === 0 && !dropping;
}

/** Once: whoever has given up waiting has heard already. */
function finish(job: Job, tell: () => void): void {
  if (job.done) return;
  job.done = true;
  tell();
}

function outOfMemory(memoryMiB: number): ExpressionError {
  const message = `The expression needed more than ${memoryMiB} MiB.`;
  return new ExpressionError("EXPRESSION_MEMORY", message);
}

function tooLong(timeoutMs: number): ExpressionError {
  const message = `The expression took longer than ${timeoutMs} ms.`;
  return new ExpressionError("EXPRESSION_TIMEOUT", message);
}
