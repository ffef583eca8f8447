import type { Client } from "./client.ts";
import type { Receiver } from "./receiver.ts";

/** How much greed: `short` within seconds, for CI; `full` with the numbers that have hurt once. */
export type Form = "short" | "full";

/** What a greedy tenant has at hand. */
export interface Greed {
  form: Form;
  /** Speaks for the greedy company. */
  client: Client;
  /** The greedy company. */
  companyId: string;
  /** Where its HTTP steps go. */
  receiver: Receiver;
  /** A superuser's address of the database: to make due at once what would take minutes. */
  databaseUrl: string;
  /** Where the runs service listens for gRPC. */
  runsGrpcAddress: string;
  /** Makes a token for gRPC calls of the greedy company. */
  mintToken: () => Promise<string>;
  /** Aborted when the case has had its time. */
  signal: AbortSignal;
  /** Waits, or less when the case has had its time. */
  rest: (ms: number) => Promise<void>;
}

/** One way to be greedy. */
export interface GreedCase {
  /** Chooses it on the command line. */
  id: string;
  /** What the tenant does, with the numbers of the full form. */
  title: string;
  /** How long it may take in each form, in milliseconds. */
  timeMs: Readonly<Record<Form, number>>;
  /** Makes what is needed; nobody is measured yet. */
  prepare?(greed: Greed): Promise<void>;
  /**
   * Is greedy until it has what it wants or its time is over.
   *
   * @returns what it got, in one sentence
   */
  run(greed: Greed): Promise<string>;
}
