import { Turns } from "@workflow/async";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import { boundedKey } from "../domain/bounded-key.ts";
import { StepError } from "../domain/step-error.ts";
import type { AgentClient } from "../interpreter/effects/agent-client.ts";
import { callWithRetries } from "./call-with-retries.ts";
import { causeOptions } from "./cause-options.ts";
import { failureOf, orStepError } from "./step-failure.ts";

/** The address of the integrations service, and the identity for calls to it. */
export interface AgentClientOptions {
  address: string;
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
  /**
   * The pauses before each further call while the service does not answer; some 40 s in all by default.
   */
  pausesMs?: readonly number[] | undefined;
}

/** The service ends a call earlier by its own limits. A dead connection is noticed within 40 s. */
const TIMEOUT_MS = 45 * 60_000;
/**
 * A question may be asked again, since its answer is recorded under its key. A service that is replaced may
 * take half a minute to start.
 */
const PAUSES_MS = [100, 400, 1_500, 3_000, 5_000, 10_000, 20_000];
/** The step's own timeout ends the call. This is the margin for a service that was not told of it. */
const GRACE_MS = 5_000;

const MIB = 1024 * 1024;
/**
 * Bytes of questions that a worker may have under way. The service holds each question several times
 * until it is answered, and cannot refuse it before it has arrived. A question that waits here takes none
 * of the service's memory.
 */
const UNDER_WAY = { perTenant: 16 * MIB, total: 32 * MIB } as const;
/** The least that a question counts. So at most 128 calls of a company, and 256 in all, are under way. */
const CALL_BYTES_MIN = MIB / 8;

/** Connects on first use. The service need not be running yet. */
export function createAgentClient(options: AgentClientOptions): AgentClient {
  const client = createRpcClient(AgentsServiceService, {
    address: options.address,
    tls: options.tls,
    tracer: options.tracer,
    minter: createTokenMinter(options.tokenSigner, { audience: "integrations" }),
    defaultTimeoutMs: TIMEOUT_MS,
  });
  const turns = new Turns(UNDER_WAY);
  return {
    takeTurn: (companyId, bytes, signal) =>
      turns.take(companyId, signal, Math.max(bytes, CALL_BYTES_MIN)),
    async ask(question, record, call, signal) {
      const { companyId, runId, key, secrets, timeoutMs } = call;
      const { agentId, input, userMessage, overrides } = question;
      const request = {
        agentId,
        inputJson: input,
        userMessage,
        overrides,
        // Without masked texts the question is recorded as it is.
        maskedInputJson: record?.input ?? "",
        maskedUserMessage: record?.userMessage,
        secrets: [...secrets],
        idempotencyKey: boundedKey(key),
        runId,
        timeoutMs: timeoutMs ?? 0,
      };
      const ask = () =>
        client.executeAgentStep(request, {
          identity: {
            companyId,
            principal: { type: "service", id: "runs" },
            scopes: ["internal:effects"],
          },
          ...causeOptions(call),
          signal,
          ...(timeoutMs === null ? {} : { timeoutMs: timeoutMs + GRACE_MS }),
        });
      const asking = callWithRetries(ask, options.pausesMs ?? PAUSES_MS, signal);
      const { outcome } = await orStepError(asking, signal, unavailable);
      if (outcome?.$case === "outputJson") return outcome.value;
      throw failureOf(outcome?.value, unavailable);
    },
    close: () => client.close(),
  };
}

function unavailable(reason: string): StepError {
  return new StepError("AGENT_UNAVAILABLE", `The agent could not be asked: ${reason}`);
}
