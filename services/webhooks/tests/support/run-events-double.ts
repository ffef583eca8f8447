import { AppError } from "@workflow/errors";
import type { EventEnvelope } from "@workflow/events";
import { RunEventsServiceService } from "@workflow/proto/runs/v1/run_events";
import type {
  ListEndEventsRequest,
  ReadRunPayloadsRequest,
  RunPayload,
} from "@workflow/proto/runs/v1/run_events";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { IssuerKeys, RpcServer } from "@workflow/rpc";
import { pino } from "pino";

/** The runs service, as far as webhooks asks it for what runs have told. */
export class RunEventsDouble {
  /** By run; runs that are not here are not found. */
  readonly payloads = new Map<string, Partial<RunPayload>>();
  /** What ended runs have told, whenever that was. */
  readonly endEvents: EventEnvelope[] = [];
  /** How often it was asked for payloads. */
  asked = 0;
  /** How often it was asked for ends of runs. */
  comparisons = 0;
  /** The runs whose payloads it was asked for. */
  readonly askedRunIds: string[] = [];
  /** The times whose ends it was asked for. */
  readonly askedEnds: { from: Date; before: Date }[] = [];
  /** How often it tells of ends before it is away. */
  endsLeft = Infinity;
  endsRefused = 0;
  /** Longer times have more ends than anybody can list. */
  endlessAboveMs = Infinity;
  isAway = false;
  readonly #server: RpcServer;

  constructor(publicKeys: IssuerKeys) {
    this.#server = createRpcServer({
      logger: pino({ level: "silent" }),
      verifier: createTokenVerifier({
        audience: "runs",
        publicKeys,
        revoked: { has: async () => false },
      }),
    });
    const scopes = "internal:run_events" as const;
    this.#server.add(RunEventsServiceService, {
      readRunPayloads: rpc({
        scopes,
        handler: async ({ runs }: ReadRunPayloadsRequest) => {
          this.asked += 1;
          this.askedRunIds.push(...runs.map(({ runId }) => runId));
          if (this.isAway) throw new AppError("UNAVAILABLE", "Away.");
          return { payloads: runs.map(({ runId }) => this.#payloadOf(runId)) };
        },
      }),
      listEndEvents: rpc({
        scopes,
        handler: async ({ companyIds, endedFrom, endedBefore }: ListEndEventsRequest) => {
          if (this.endsLeft <= 0) {
            this.endsRefused += 1;
            throw new AppError("UNAVAILABLE", "Away.");
          }
          this.endsLeft -= 1;
          const [from, before] = [endedFrom ?? new Date(0), endedBefore ?? new Date(0)];
          this.askedEnds.push({ from, before });
          this.comparisons += 1;
          return {
            eventsJson: this.endEvents
              .filter(({ companyId }) => companyIds.includes(companyId))
              .map((event) => JSON.stringify(event)),
            nextPageToken: before.getTime() - from.getTime() > this.endlessAboveMs ? "more" : "",
          };
        },
      }),
    });
  }

  async start(): Promise<string> {
    const { address } = await this.#server.listen("127.0.0.1:0");
    return address;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #payloadOf(runId: string): RunPayload {
    const known = this.payloads.get(runId);
    return {
      found: known !== undefined,
      tooLarge: false,
      inputJson: "",
      outputJson: "",
      postponed: false,
      ...known,
    };
  }
}
