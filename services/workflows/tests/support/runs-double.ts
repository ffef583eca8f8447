import { AppError } from "@workflow/errors";
import { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import type {
  CheckDeploymentRequest,
  DeploymentContent,
  PutDeploymentRequest,
} from "@workflow/proto/runs/v1/deployments";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { Identity, RpcServer, IssuerKeys } from "@workflow/rpc";
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
  /** How often it was asked about a definition. */
  asked = 0;
  /** Thrown by every call while set. */
  failure: AppError | null = null;
  /** Says which definitions are refused, when they are asked about and when they are handed over. */
  refuses: (content: DeploymentContent, when: "asked" | "handed over") => boolean = () => false;
  /** Awaited by every hand-over before it takes effect. */
  gate: () => Promise<void> = async () => {};
  /** Awaited by every question about a definition before it is answered. */
  askGate: () => Promise<void> = async () => {};
  address: string;
  readonly #keys: IssuerKeys;
  #server: RpcServer | null = null;

  constructor(keys: IssuerKeys, address: string) {
    this.#keys = keys;
    this.address = address;
  }

  async start(): Promise<void> {
    const server = createRpcServer({
      logger: pino({ level: "silent" }),
      verifier: createTokenVerifier({
        audience: "runs",
        publicKeys: this.#keys,
        revoked: { has: async () => false },
      }),
    });
    server.add(DeploymentsServiceService, {
      putDeployment: rpc({
        scopes: "internal:deployments",
        handler: async (request: PutDeploymentRequest, { identity, requestId }) => {
          this.received.push({ request, identity, requestId });
          await this.gate();
          if (this.failure !== null) throw this.failure;
          this.#judge(request.content, "handed over");
          const known = this.deployed.get(request.workflowId);
          if (known === undefined || known.revision < request.revision) {
            this.deployed.set(request.workflowId, request);
            return { revision: request.revision };
          }
          return { revision: known.revision };
        },
      }),
      checkDeployment: rpc({
        scopes: "internal:deployments",
        handler: async ({ content }: CheckDeploymentRequest) => {
          this.asked += 1;
          await this.askGate();
          if (this.failure !== null) throw this.failure;
          this.#judge(content, "asked");
          return {};
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

  #judge(content: DeploymentContent | undefined, when: "asked" | "handed over"): void {
    if (content === undefined || !this.refuses(content, when)) return;
    const violations = [{ path: ["steps", "0"], message: "is not known here" }];
    throw new AppError("BAD_REQUEST", "The deployment cannot be executed.", { violations });
  }

  /** The requests that arrived for one workflow, in order. */
  requestsFor(workflowId: string): PutDeploymentRequest[] {
    return this.received
      .map(({ request }) => request)
      .filter((request) => request.workflowId === workflowId);
  }

  /**
   * The revisions that were handed over for one workflow, each once. The repair loop may hand over
   * a revision again at any moment, so the number of requests proves nothing.
   */
  revisionsFor(workflowId: string): number[] {
    return [...new Set(this.requestsFor(workflowId).map(({ revision }) => revision))];
  }
}
