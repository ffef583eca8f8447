import type { Job } from "./job.ts";

/** The limits of waiting expressions. Characters are those of sources and documents. */
export interface QueueLimits {
  /** The limit of one company's expressions. */
  companyJobsMax: number;
  companyCharsMax: number;
  /** The limit of all companies; beyond it companies with more than an equal share are refused. */
  charsMax: number;
}

/** A worker of 4 GiB can hold these. A company with all of them already waits for minutes. */
export const QUEUE_LIMITS: QueueLimits = {
  companyJobsMax: 10_000,
  companyCharsMax: 64 * 1024 * 1024,
  charsMax: 256 * 1024 * 1024,
};

interface CompanyQueue {
  jobs: Job[];
  chars: number;
}

/** The expressions that wait for a process: a queue for each company, and turns between the queues. */
export class CompanyQueues {
  readonly #limits: QueueLimits;
  /** The queues that are not empty; the company that was served last is at the end. */
  readonly #queues = new Map<string, CompanyQueue>();
  #chars = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** The companies with waiting expressions, the next one first. */
  companies(): string[] {
    return [...this.#queues.keys()];
  }

  /** The number of waiting expressions. */
  get size(): number {
    let size = 0;
    for (const { jobs } of this.#queues.values()) size += jobs.length;
    return size;
  }

  /** When the longest wait began, by `performance.now()`; null when nothing waits. */
  get oldestSince(): number | null {
    let oldest: number | null = null;
    for (const { jobs } of this.#queues.values()) {
      const since = jobs[0]?.since ?? Number.POSITIVE_INFINITY;
      oldest = Math.min(oldest ?? since, since);
    }
    return oldest;
  }

  /** Takes the next job of the next company. */
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

  /** Returns unfinished jobs to the heads of their companies' queues, in this order. */
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

  /** Empties all queues and returns their jobs. */
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
