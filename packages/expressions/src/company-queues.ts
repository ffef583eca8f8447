import type { Job } from "./job.ts";

/** How much may wait. Characters are those of sources and documents. */
export interface QueueLimits {
  /** Expressions of one company. */
  companyJobsMax: number;
  companyCharsMax: number;
  /** Of all companies; beyond it those with more than an equal share are refused. */
  charsMax: number;
}

/** A worker of 4 GiB holds these; a company that has them all waits for minutes already. */
export const QUEUE_LIMITS: QueueLimits = {
  companyJobsMax: 10_000,
  companyCharsMax: 64 * 1024 * 1024,
  charsMax: 256 * 1024 * 1024,
};

interface CompanyQueue {
  jobs: Job[];
  chars: number;
}

/** What waits for a process: a queue for each company, and turns between them. */
export class CompanyQueues {
  readonly #limits: QueueLimits;
  /** Only those in which something waits; the one whose turn it was last is at the end. */
  readonly #queues = new Map<string, CompanyQueue>();
  #chars = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Companies for which something waits, the one first that has waited longest for its turn. */
  companies(): string[] {
    return [...this.#queues.keys()];
  }

  /** How many wait. */
  get size(): number {
    let size = 0;
    for (const { jobs } of this.#queues.values()) size += jobs.length;
    return size;
  }

  /** When the one that waits longest began to, by `performance.now()`; null when none waits. */
  get oldestSince(): number | null {
    let oldest: number | null = null;
    for (const { jobs } of this.#queues.values()) {
      const since = jobs[0]?.since ?? Number.POSITIVE_INFINITY;
      oldest = Math.min(oldest ?? since, since);
    }
    return oldest;
  }

  /** The next job of the company that has waited longest for its turn. */
  nextInTurn(): Job | undefined {
    const [queue] = this.#queues.values();
    return queue?.jobs[0];
  }

  first(companyId: string): Job | undefined {
    return this.#queues.get(companyId)?.jobs[0];
  }

  /** @returns false when the company's queue is full */
  push(job: Job): boolean {
    const { companyJobsMax, companyCharsMax, charsMax } = this.#limits;
    const { jobs, chars } = this.#queues.get(job.companyId) ?? { jobs: [], chars: 0 };
    const wanted = chars + job.chars;
    const isCrowded = this.#chars + job.chars > charsMax;
    const share = isCrowded ? charsMax / Math.max(1, this.#queues.size) : companyCharsMax;
    if (jobs.length >= companyJobsMax || wanted > Math.min(share, companyCharsMax)) return false;
    this.#note(job, (queue) => queue.push(job));
    return true;
  }

  /** Jobs that were taken and not finished: they are the next of their companies, in this order. */
  putBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      if (!job.done) this.#note(job, (queue) => queue.unshift(job));
    }
  }

  /** Takes the company's next job and ends its turn. */
  takeFirst(companyId: string): Job | undefined {
    const job = this.first(companyId);
    if (job === undefined) return undefined;
    this.remove(job);
    const queue = this.#queues.get(companyId);
    if (queue !== undefined) {
      this.#queues.delete(companyId);
      this.#queues.set(companyId, queue);
    }
    return job;
  }

  remove(job: Job): void {
    const queue = this.#queues.get(job.companyId);
    const index = queue?.jobs.indexOf(job) ?? -1;
    if (queue === undefined || index === -1) return;
    queue.jobs.splice(index, 1);
    queue.chars -= job.chars;
    this.#chars -= job.chars;
    if (queue.jobs.length === 0) this.#queues.delete(job.companyId);
  }

  /** Empties everything. */
  takeAll(): Job[] {
    const all = [...this.#queues.values()].flatMap(({ jobs }) => jobs);
    this.#queues.clear();
    this.#chars = 0;
    return all;
  }

  #note(job: Job, add: (jobs: Job[]) => void): void {
    const queue = this.#queues.get(job.companyId) ?? { jobs: [], chars: 0 };
    this.#queues.set(job.companyId, queue);
    add(queue.jobs);
    queue.chars += job.chars;
    this.#chars += job.chars;
  }
}
