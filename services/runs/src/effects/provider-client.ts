import { ActionsServiceService } from "@workflow/proto/integrations/v1/actions";
import type { ConnectionChoice, Pause } from "@workflow/proto/integrations/v1/actions";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { Identity, RpcCallOptions, RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import { boundedKey } from "../domain/bounded-key.ts";
import type { CallCause } from "../domain/run-facts.ts";
import { StepError } from "../domain/step-error.ts";
import type {
  NamedConnections,
  ProviderCall,
  ProviderClient,
} from "../interpreter/effects/provider-client.ts";
import type { PausedCall } from "../interpreter/effects/paused-call.ts";
import { causeOptions } from "./cause-options.ts";
import { failureOf, orStepError } from "./step-failure.ts";

/** The address of the integrations service, and the identity for calls to it. */
export interface ProviderClientOptions {
  address: string;
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
}

/** The service allows 60 s for one exchange with a provider. A list may have several pages. */
const EXECUTE_TIMEOUT_MS = 180_000;
/** Credentials may have to be renewed before they are handed out. */
const AUTHORIZE_TIMEOUT_MS = 40_000;
const REPORT_TIMEOUT_MS = 5_000;

/** Connects on first use. The service need not be running yet. */
export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const client = createRpcClient(ActionsServiceService, {
    address: options.address,
    tls: options.tls,
    tracer: options.tracer,
    minter: createTokenMinter(options.tokenSigner, { audience: "integrations" }),
    defaultTimeoutMs: EXECUTE_TIMEOUT_MS,
  });
  return {
    async execute(cause, call, signal) {
      const options = { ...callOf(cause, "internal:effects"), signal };
      const executing = client.executeAction(requestOf(call), options);
      const { outcome } = await orStepError(executing, signal, unavailable);
      if (outcome?.$case === "outputJson") return { kind: "done", output: outcome.value };
      if (outcome?.$case === "pause") return toPaused(outcome.value);
      throw failureOf(outcome?.value, unavailable);
    },
    async authorize(cause, { provider, named, hasTurn }, signal) {
      const request = {
        ...(provider === undefined ? {} : { provider }),
        connection: choiceOf(named),
        hasTurn,
      };
      const called = callOf(cause, "internal:secrets");
      const options = { ...called, signal, timeoutMs: AUTHORIZE_TIMEOUT_MS };
      const { outcome } = await orStepError(
        client.authorizeRequest(request, options),
        signal,
        unavailable,
      );
      if (outcome?.$case === "pause") return toPaused(outcome.value);
      if (outcome?.$case !== "authorization") throw failureOf(outcome?.value, unavailable);
      const { operatorOrigin, ...authorization } = outcome.value;
      return { kind: "authorized", authorization: { ...authorization, operatorOrigin } };
    },
    async report(cause, answer, signal) {
      const called = callOf(cause, "internal:effects");
      const request = {
        ...answer,
        headers: { ...answer.headers },
        ageMs: Math.round(answer.ageMs),
      };
      const options = { ...called, signal, timeoutMs: REPORT_TIMEOUT_MS };
      const { pause } = await orStepError(
        client.reportAnswer(request, options),
        signal,
        unavailable,
      );
      return pause === undefined ? null : toPaused(pause);
    },
    close: () => client.close(),
  };
}

/** The service acts in its own name, for the run's company. */
function callOf(cause: CallCause, scope: string): RpcCallOptions {
  const { companyId } = cause;
  const identity: Identity = {
    companyId,
    principal: { type: "service", id: "runs" },
    scopes: [scope],
  };
  return { identity, ...causeOptions(cause) };
}

function requestOf({ action, inputs, named, key, hasTurn, hostLimits }: ProviderCall) {
  return {
    action,
    inputsJson: inputs,
    connection: choiceOf(named),
    idempotencyKey: boundedKey(key),
    hasTurn,
    hostLimits: hostLimits.map((hosts) => ({ hosts: [...hosts] })),
  };
}

function choiceOf({ step, run }: NamedConnections): ConnectionChoice {
  return {
    ...(step === null ? {} : { stepConnectionId: step }),
    ...(run === null ? {} : { runConnectionId: run }),
  };
}

/** The result of a call while its connection is paused. */
export function toPaused({ waitMs, message }: Pause): PausedCall {
  return { kind: "paused", waitMs, message };
}

/** The service could not be reached, or did not answer in time. */
export function unavailable(reason: string): StepError {
  return new StepError("PROVIDER_UNAVAILABLE", `The provider could not be called: ${reason}`);
}
