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
  const { queues, processes, timeoutMs, memoryMiB } = options;
  /** Processes that one company may keep while others have none. */
  const companyShare = Math.max(1, Math.floor(processes / 2));
  const members = new Set<Member>();
  let watching: NodeJS.Timeout | undefined;
  let woken = false;
  let closed = false;

  const startMember = (): Member => {
    const evaluator = options.startEvaluator({
      onAnswer: (answer) => settle(member, answer),
      onCrash: () => fail(member, outOfMemory(memoryMiB)),
      onFailure: (error) => fail(member, error),
    });
    const since = performance.now();
    const state = { warm: false, answered: 0, jobs: [], since, cpuFrom: null, dropping: false };
    const member: Member = { evaluator, ...state };
    members.add(member);
    return member;
  };

  /** Ends a process; answers what it had not finished. */
  const end = (member: Member): Job[] => {
    members.delete(member);
    void member.evaluator.kill();
    return member.jobs.splice(0);
  };

  const settle = (member: Member, answer: EvaluatorAnswer): void => {
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
    if (isIdle(member)) wake();
  };

  /** A process that others had used may have failed for what they left in it: one more try (M4). */
  const fail = (member: Member, error: Error): void => {
    if (!members.has(member)) return;
    const [first, ...others] = end(member);
    if (first !== undefined && member.answered > 0 && !first.alone) {
      first.alone = true;
      queues.putBack([first, ...others]);
    } else {
      queues.putBack(others);
      if (first !== undefined) finish(first, () => first.reject(error));
    }
    wake();
  };

  const timeOut = (member: Member): void => {
    const [first, ...others] = end(member);
    queues.putBack(others);
    if (first !== undefined) finish(first, () => first.reject(tooLong(timeoutMs)));
  };

  const runningOf = (companyId: string): number =>
    [...members].filter(({ jobs }) => jobs[0]?.companyId === companyId).length;

  /** Whoever has the fewest processes; among equals who has waited longest for a turn. */
  const nextCompany = (): string | undefined => {
    let next: string | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const companyId of queues.companies()) {
      const running = runningOf(companyId);
      if (running < fewest) [next, fewest] = [companyId, running];
      if (fewest === 0) break;
    }
    return next;
  };

  const findMember = (job: Job): Member | undefined => {
    const idle = [...members].find(isIdle);
    if (!job.alone && idle !== undefined) return idle;
    if (job.alone && idle !== undefined && members.size >= processes) end(idle);
    return members.size < processes ? startMember() : undefined;
  };

  /** The first company's next job, and, for as long as there is room, those whose turn comes then. */
  const takeBatch = (companyId: string): Job[] => {
    // Spread over the processes that may be had, so that a slow one holds up little.
    const share = Math.min(BATCH_MAX, Math.ceil(queues.size / processes));
    const first = queues.takeFirst(companyId);
    if (first === undefined || first.alone) return first === undefined ? [] : [first];
    const batch = [first];
    while (batch.length < share) {
      const next = queues.nextInTurn();
      if (next === undefined || next.alone) break;
      queues.takeFirst(next.companyId);
      batch.push(next);
    }
    return batch;
  };

  const dispatch = (): void => {
    for (let companyId = nextCompany(); companyId !== undefined; companyId = nextCompany()) {
      const job = queues.first(companyId);
      const member = job && findMember(job);
      if (member === undefined) break;
      member.jobs = takeBatch(companyId);
      beginTime(member);
      member.evaluator.send(member.jobs.map(({ request }) => request));
    }
    watch();
  };

  /** Runs once per turn of the event loop, so that requests made together travel together. */
  const wake = (): void => {
    if (woken || closed) return;
    woken = true;
    setImmediate(() => {
      woken = false;
      if (!closed) dispatch();
    });
  };

  const watch = (): void => {
    const isBusy = [...members].some((member) => !isIdle(member));
    if (isBusy && watching === undefined) {
      // Answers that came while this thread was busy are heard first.
      watching = setInterval(() => setImmediate(look), WATCH_MS);
    } else if (!isBusy) {
      clearInterval(watching);
      watching = undefined;
    }
  };

  const look = (): void => {
    if (closed) return;
    const now = performance.now();
    for (const member of members) {
      const ranMs = now - member.since;
      if (isIdle(member)) continue;
      if (isLate(member, ranMs, timeoutMs)) timeOut(member);
      else if (member.warm && ranMs > PATIENCE_MS) relieve(member);
    }
    dispatch();
    makeRoom(now);
  };

  /** Those behind a slow evaluation need not wait for it; one that was given up is not finished. */
  const relieve = (member: Member): void => {
    const [first, ...behind] = member.jobs;
    queues.putBack(behind);
    if (first?.done === true) {
      end(member);
    } else if (behind.length > 0) {
      member.jobs = member.jobs.slice(0, 1);
      member.dropping = true;
      member.evaluator.send("drop");
    }
  };

  /** Who has no process gets one of a company that has more than its share. */
  const makeRoom = (now: number): void => {
    const isStarved = queues.companies().some((companyId) => runningOf(companyId) === 0);
    if (!isStarved) return;
    const victim = [...members]
      .filter(({ jobs: [job], since, warm }) => {
        if (job === undefined || job.preempted || !warm || now - since < PATIENCE_MS) return false;
        return runningOf(job.companyId) > companyShare;
      })
      .toSorted((one, other) => other.since - one.since)[0];
    if (victim === undefined) return;
    const jobs = end(victim);
    if (jobs[0] !== undefined) jobs[0].preempted = true;
    queues.putBack(jobs);
    dispatch();
  };

  return {
    wake,
    get running() {
      return [...members].filter((member) => !isIdle(member)).length;
    },
    async close() {
      closed = true;
      clearInterval(watching);
      const ending = [...members].map(({ evaluator }) => evaluator.kill());
      const unfinished = [...members].flatMap(({ jobs }) => jobs.splice(0));
      members.clear();
      await Promise.all(ending);
      return unfinished;
    },
  };
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
