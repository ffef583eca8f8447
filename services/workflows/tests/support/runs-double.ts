import type { AppError } from "@workflow/errors";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import type { PutDeploymentRequest } from "@workflow/proto/runs/v1/deployments";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { Identity, RpcServer, VerificationKey } from "@workflow/rpc";
import { pino } from "pino";

/** One PutDeployment that arrived, whatever became of it. */
export interface ReceivedPut {
  request: PutDeploymentRequest;
  identity: Identity;
  requestId: string;
}

/** The execution plane's side of the hand-over: keeps the newest revision of each workflow. */
export class RunsDouble {
  readonly received: ReceivedPut[] = [];
  readonly deployed = new Map<string, PutDeploymentRequest>();
  /** Thrown by every call while set. */
  failure: AppError | null = null;
  /** Awaited by every call before it takes effect. */
  gate: () => Promise<void> = async () => {};
  address: string;
  readonly #keys: readonly VerificationKey[];
  #server: RpcServer | null = null;

  constructor(keys: readonly VerificationKey[], address: string) {
    this.#keys = keys;
    this.address = address;
  }

  async start(): Promise<void> {
    const server = createRpcServer({
      logger: pino({ level: "silent" }),
      verifier: createTokenVerifier({ publicKeys: this.#keys }),
    });
    server.add(DeploymentsServiceService, {
      putDeployment: rpc({
        scopes: "internal:deployments",
        handler: async (request: PutDeploymentRequest, { identity, requestId }) => {
          this.received.push({ request, identity, requestId });
          await this.gate();
          if (this.failure !== null) throw this.failure;
          const known = this.deployed.get(request.workflowId);
          if (known === undefined || known.revision < request.revision) {
            this.deployed.set(request.workflowId, request);
            return { revision: request.revision };
          }
          return { revision: known.revision };
        },
      }),
    });
    const bound = await server.listen(this.address);
    this.address = bound.address;
    server.setServing(true);
    this.#server = server;
  }

  /** From now on connections are refused, until the next start. */
  async stop(): Promise<void> {
    await this.#server?.close(0);
    this.#server = null;
  }

  /** The requests that arrived for one workflow, in order. */
  requestsFor(workflowId: string): PutDeploymentRequest[] {
    return this.received
      .map(({ request }) => request)
      .filter((request) => request.workflowId === workflowId);
  }
}
