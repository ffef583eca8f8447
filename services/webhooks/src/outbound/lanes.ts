import { setTimeout as delay } from "node:timers/promises";
import { loop } from "@workflow/async";
import type { Loop } from "@workflow/async";
import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import {
  claimLanes,
  claimNamedLanes,
  keepLanes,
  notifyLanes,
  releaseLanes,
} from "../store/lane-leases.ts";
import type { LeasedLane } from "../store/lane-leases.ts";
import { LANES_CHANNEL } from "../store/lanes.ts";
import type { EndpointKey } from "../store/lanes.ts";
import type { FedLane } from "../store/new-deliveries.ts";
import { Lane } from "./lane.ts";
import type { LaneContext } from "./lane-context.ts";

/** The dependencies of serving lanes. */
export interface LanesOptions {
  database: Database;
  logger: Logger;
  /** Makes the context that lanes share; lanes ask `holdsLeases` for the state of their leases. */
  context: (holdsLeases: () => boolean) => LaneContext;
}

const LEASE_MS = 10_000;
const KEEP_MS = 2_000;
/** The age of a lease after which it might end before a new attempt has begun. */
const HELD_MS = LEASE_MS - KEEP_MS;
/**
 * The longest time between two polls, which find lanes that nobody announces: retries, and lanes of
 * dead processes.
 */
const POLL_MS = 1_000;
const IDLE_MS = 2_000;
const LANES_MAX = 2_048;
/** Twice a company's places, so that each place has a lane that waits for it. */
const LANES_PER_COMPANY = 256;
const CLAIM_MAX = 128;
/** The time for running attempts when the process stops. */
const GRACE_MS = 3_000;

/** The lanes that this process serves. */
export class Lanes {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #owner = newUuid();
  readonly #context: LaneContext;
  readonly #lanes = new Map<string, Lane>();
  readonly #perCompany = new Map<string, number>();
  readonly #stopping = new AbortController();
  #named = new Map<string, EndpointKey>();
  #pollAt = 0;
  #heldUntil = performance.now() + HELD_MS;
  readonly #claiming: Loop;
  readonly #keeping: Loop;

  constructor({ database, logger, context }: LanesOptions) {
    this.#database = database;
    this.#logger = logger;
    this.#context = context(() => performance.now() < this.#heldUntil);
    const { signal } = this.#stopping;
    this.#keeping = loop({
      name: "keep-lanes",
      signal,
      intervalMs: KEEP_MS,
      logger,
      run: () => this.#keep(),
    });
    this.#claiming = loop({
      name: "claim-lanes",
      signal,
      intervalMs: POLL_MS,
      logger,
      run: () => this.#claim(),
    });
  }

  /** The number of held lanes. */
  get held(): number {
    return this.#lanes.size;
  }

  /** Announces lanes with new deliveries to the processes that serve them. */
  async feed(fed: readonly FedLane[]): Promise<void> {
    const elsewhere: string[] = [];
    for (const { endpointId, companyId, owner } of fed) {
      const lane = this.#lanes.get(endpointId);
      if (lane !== undefined) lane.wake();
      else if (owner === null) this.#named.set(endpointId, { endpointId, companyId });
      else if (owner !== this.#owner) elsewhere.push(endpointId);
    }
    if (this.#named.size > 0) this.#claiming.wake();
    if (elsewhere.length > 0) await notifyLanes(this.#database, LANES_CHANNEL, elsewhere);
  }

  /** Announces that an endpoint has changed, or has new deliveries. */
  change(endpointId: string): void {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) this.poll();
    else lane.change();
  }

  /** Polls for lanes that are due. */
  poll(): void {
    this.#pollAt = 0;
    this.#claiming.wake();
  }

  /** Begins no further attempt, waits a little for running ones, and releases the lanes. */
  async stop(breakOff: () => void): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#claiming.done, this.#keeping.done]);
    const lanes = [...this.#lanes.values()];
    for (const lane of lanes) lane.close();
    const until = performance.now() + GRACE_MS;
    while (lanes.some(({ isQuiet }) => !isQuiet) && performance.now() < until) await delay(5);
    breakOff();
    const last = performance.now() + GRACE_MS;
    while (lanes.some(({ isQuiet }) => !isQuiet) && performance.now() < last) await delay(5);
    if (lanes.length === 0) return;
    await releaseLanes(
      this.#database,
      lanes.map(({ lease }) => lease),
    ).catch((error: unknown) => this.#logger.warn({ err: error }, "could not release lanes"));
  }

  async #claim(): Promise<"again" | void> {
    const named = this.#takeNamed();
    if (named.length > 0) {
      this.#begin(await claimNamedLanes(this.#database, this.#lease, named));
    }
    if (performance.now() < this.#pollAt) return this.#named.size > 0 ? "again" : undefined;
    const limit = Math.min(CLAIM_MAX, LANES_MAX - this.#lanes.size);
    if (limit <= 0) return;
    const claimed = await claimLanes(this.#database, {
      ...this.#lease,
      limit,
      except: [...this.#perCompany].flatMap(([id, count]) =>
        count >= LANES_PER_COMPANY ? [id] : [],
      ),
    });
    this.#begin(claimed);
    if (claimed.length === limit) return "again";
    this.#pollAt = performance.now() + POLL_MS * 0.9;
    return this.#named.size > 0 ? "again" : undefined;
  }

  get #lease(): { owner: string; leaseMs: number } {
    return { owner: this.#owner, leaseMs: LEASE_MS };
  }

  /** As many named lanes as may be served; polls find the others later. */
  #takeNamed(): string[] {
    const taken: string[] = [];
    const perCompany = new Map<string, number>();
    for (const { endpointId, companyId } of this.#named.values()) {
      const more = (perCompany.get(companyId) ?? 0) + 1;
      const isFull = (this.#perCompany.get(companyId) ?? 0) + more > LANES_PER_COMPANY;
      if (isFull || this.#lanes.size + taken.length >= LANES_MAX) continue;
      perCompany.set(companyId, more);
      taken.push(endpointId);
    }
    this.#named = new Map();
    return taken;
  }

  #begin(leases: readonly LeasedLane[]): void {
    for (const lease of leases) {
      // A lane that is here already was lost without a release.
      this.#forget(lease.endpointId);
      const lane = new Lane(lease, this.#context);
      this.#lanes.set(lease.endpointId, lane);
      const { companyId } = lease;
      this.#perCompany.set(companyId, (this.#perCompany.get(companyId) ?? 0) + 1);
      lane.wake();
    }
  }

  #forget(endpointId: string): void {
    const lane = this.#lanes.get(endpointId);
    if (lane === undefined) return;
    lane.close();
    this.#lanes.delete(endpointId);
    const { companyId } = lane.lease;
    const count = (this.#perCompany.get(companyId) ?? 1) - 1;
    if (count === 0) this.#perCompany.delete(companyId);
    else this.#perCompany.set(companyId, count);
  }

  /** Extends the leases of lanes with work, and releases the others. */
  async #keep(): Promise<void> {
    const at = performance.now();
    const idle = [...this.#lanes.values()].filter(
      (lane) => lane.isQuiet && lane.idleMs(at) > IDLE_MS,
    );
    for (const { lease } of idle) this.#forget(lease.endpointId);
    if (idle.length > 0) {
      await releaseLanes(
        this.#database,
        idle.map(({ lease }) => lease),
      );
    }
    const held = [...this.#lanes.values()];
    if (held.length > 0) {
      const leases = held.map(({ lease }) => lease);
      const kept = await keepLanes(this.#database, leases, LEASE_MS);
      for (const { lease } of held) {
        if (kept.has(lease.endpointId) || this.#lanes.get(lease.endpointId)?.lease !== lease) {
          continue;
        }
        this.#logger.warn({ endpointId: lease.endpointId }, "another process serves a lane");
        this.#forget(lease.endpointId);
      }
    }
    const wasHeld = at < this.#heldUntil;
    this.#heldUntil = at + HELD_MS;
    if (!wasHeld) for (const lane of this.#lanes.values()) lane.wake();
  }
}
