import type { CompanyQueues } from "./company-queues.ts";
import { ExpressionError } from "./expression-error.ts";
import type { Job } from "./job.ts";
import type { EvaluatorAnswer } from "./protocol.ts";
import type { Evaluator, EvaluatorEvents } from "./start-evaluator.ts";

/** Gives waiting jobs to processes, in turns between companies, and enforces the limits of both. */
export interface Dispatcher {
  /** Call this when a job begins to wait. */
  wake(): void;
  /** The number of busy processes. */
  readonly running: number;
  /** Ends the processes and returns their unfinished jobs. */
  close(): Promise<Job[]>;
}

/** The dependencies and limits of a dispatcher. Times are in milliseconds. */
export interface DispatcherOptions {
  queues: CompanyQueues;
  startEvaluator(events: EvaluatorEvents): Evaluator;
  processes: number;
  timeoutMs: number;
  memoryMiB: number;
}

/** An evaluator process and its jobs. */
interface Member {
  evaluator: Evaluator;
  /** Whether the process has started; before, its time includes the start. */
  warm: boolean;
  /** The number of answered jobs. */
  answered: number;
  /** The jobs that were sent and not answered yet, in order; the first is being evaluated. */
  jobs: Job[];
  /** When the first job began. */
  since: number;
  /** The processor time at the first poll of the first job; null before that poll, or when unknown. */
  cpuFrom: number | null;
  /** Whether the process has yet to confirm that it has dropped its waiting jobs. */
  dropping: boolean;
}

/**
 * The limit of requests at one process. It keeps the process busy while the main thread is, and few
 * requests wait behind a slow one. With the main thread busy in slices of 4 ms, 100 callers get 5,600
 * evaluations/s with 16 and 480 with one (idle: 19,000 and 5,000; 64 is no better than 16); two cores,
 * three processes, an expression of a sum.
 */
const BATCH_MAX = 16;
/** The time limit of a process's start, on a loaded machine. */
const START_MS_MAX = 10_000;
/** The interval between polls of running evaluations. */
const WATCH_MS = 25;
/**
 * The factor by which an evaluation's elapsed time may exceed its processor time. On a busy machine the
 * process waits for the processor, and its answer waits to be read. Neither is the expression's fault.
 */
const WALL_FACTOR = 15;
/**
 * The time after which other jobs no longer wait behind an evaluation, or for a company with many
 * processes.
 */
const LONG_JOB_MS = 50;

/** Creates a dispatcher; its processes start when they are needed. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new ProcessDispatcher(options);
}

class ProcessDispatcher implements Dispatcher {
  readonly #queues: CompanyQueues;
  readonly #options: DispatcherOptions;
  readonly #processes: number;
  readonly #timeoutMs: number;
  readonly #memoryMiB: number;
  /** The processes that one company may keep while others have none. */
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

  /** Ends a process and returns its unfinished jobs. */
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

  /** An earlier job may have made the process fail, so a job in a used process gets one more try. */
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

  /** The company with the fewest processes; of several the one that has waited longest for its turn. */
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

  /** The first company's next job and, as long as there is room, the jobs of the next turns. */
  #takeBatch(companyId: string): Job[] {
    // The jobs are spread over all possible processes, so that few wait behind a slow one.
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

  /** Runs once in each turn of the event loop, so that requests which arrive together are sent together. */
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
      // Answers that arrived while this thread was busy are read before the poll.
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
      else if (member.warm && ranMs > LONG_JOB_MS) this.#relieve(member);
    }
    this.#dispatch();
    this.#makeRoom(now);
  }

  /**
   * Moves jobs away from a slow evaluation, so that they need not wait for it. A job whose caller has
   * left is dropped.
   */
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

  /** Gives a company without a process one of a company that has more than its share. */
  #makeRoom(now: number): void {
    const isStarved = this.#queues
      .companies()
      .some((companyId) => this.#runningOf(companyId) === 0);
    if (!isStarved) return;
    const victim = [...this.#members]
      .filter(({ jobs: [job], since, warm }) => {
        if (job === undefined || job.preempted || !warm || now - since < LONG_JOB_MS) return false;
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
 * Whether an evaluation has used up its time. Only processor time counts, as far as the system reports
 * it. The time before the first poll, a few hundredths of a second, counts whole.
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

/** Settles a job once: a caller who has left already has an answer. */
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
