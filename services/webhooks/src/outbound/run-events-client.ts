import type { Identity } from "@workflow/rpc";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { RpcTls, TokenSigner } from "@workflow/rpc";
import { RunEventsServiceService } from "@workflow/proto/runs/v1/run_events";
import type { RunPayload } from "@workflow/proto/runs/v1/run_events";
import type { Tracer } from "@workflow/tracing";
import { webhooksWith } from "../service-identity.ts";

/** The address of the runs service, and the identity for calls to it. */
export interface RunEventsClientOptions {
  address: string;
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
}

/** Identifies a run of a company. */
export interface RunRef {
  companyId: string;
  runId: string;
}

/** A page of the events of ended runs. */
export interface EndEvents {
  /** Envelopes as JSON text. */
  events: readonly string[];
  /** Null at the end. */
  nextPageToken: string | null;
}

/**
 * The client for the runs service.
 *
 * @throws AppError by every call
 */
export interface RunEventsClient {
  /** Inputs and outputs of runs, in the same order; those above 256 KiB are left out (D64). */
  readPayloads(runs: readonly RunRef[], signal: AbortSignal): Promise<readonly RunPayload[]>;
  /** The events of some companies' ended runs, in the order of their ends. */
  listEndEvents(
    companyIds: readonly string[],
    ended: { from: Date; before: Date; pageToken: string },
    signal: AbortSignal,
  ): Promise<EndEvents>;
  close(): void;
}

const TIMEOUT_MS = 10_000;
/** Bytes of input and output together (D64). */
const PAYLOAD_BYTES_MAX = 256 * 1024;
const RUNS_MAX = 100;
const PAGE_SIZE = 1_000;
const IDENTITY: Identity = webhooksWith("internal:run_events");

/** A client of the runs service. It connects on first use. */
export function createRunEventsClient(options: RunEventsClientOptions): RunEventsClient {
  const client = createRpcClient(RunEventsServiceService, {
    address: options.address,
    minter: createTokenMinter(options.tokenSigner, { audience: "runs" }),
    tls: options.tls,
    tracer: options.tracer,
    defaultTimeoutMs: TIMEOUT_MS,
  });
  const readSome = async (
    runs: readonly RunRef[],
    signal: AbortSignal,
  ): Promise<readonly RunPayload[]> => {
    const request = { runs: [...runs], bytesMax: PAYLOAD_BYTES_MAX };
    const { payloads } = await client.readRunPayloads(request, { identity: IDENTITY, signal });
    if (payloads.length !== runs.length) throw new Error("Some of the runs were not answered.");
    return payloads;
  };
  return {
    async readPayloads(runs, signal) {
      const payloads: RunPayload[] = [];
      while (payloads.length < runs.length) {
        const next = runs.slice(payloads.length, payloads.length + RUNS_MAX);
        const answered = await readSome(next, signal);
        const postponed = answered.findIndex((payload) => payload.postponed);
        if (postponed === 0) throw new Error("The first run had no room in an answer of its own.");
        payloads.push(...(postponed === -1 ? answered : answered.slice(0, postponed)));
      }
      return payloads;
    },
    async listEndEvents(companyIds, { from, before, pageToken }, signal) {
      const answer = await client.listEndEvents(
        {
          companyIds: [...companyIds],
          endedFrom: from,
          endedBefore: before,
          pageToken,
          pageSize: PAGE_SIZE,
        },
        { identity: IDENTITY, signal },
      );
      const { eventsJson, nextPageToken } = answer;
      return { events: eventsJson, nextPageToken: nextPageToken === "" ? null : nextPageToken };
    },
    close: () => client.close(),
  };
}
