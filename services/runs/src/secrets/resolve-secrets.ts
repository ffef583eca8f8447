import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import type { ResolveSecretsResponse } from "@workflow/proto/integrations/v1/secrets";
import { createRpcClient, createTokenMinter } from "@workflow/rpc";
import type { Identity, RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import type { CallCause } from "../domain/run-facts.ts";

/** A secret of a run's workflow. */
export interface RunSecret {
  /** In plain text. It must never be stored or logged. */
  value: string;
  /** The only hosts that it may be sent to, as `isSecretHost` takes them; null: any (D66). */
  allowedHosts: readonly string[] | null;
}

/** Fetches the secrets that a run is about to use. */
export interface SecretsClient {
  /**
   * The secrets of a workflow by key. Keys that do not exist are missing.
   *
   * @throws AppError UNAVAILABLE when the values cannot be fetched at the moment, or the signal was
   * aborted
   */
  resolve(
    cause: CallCause,
    workflowId: string,
    keys: Iterable<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, RunSecret>>;
  close(): void;
}

export interface SecretsClientOptions {
  /** The address of the integrations service. */
  address: string;
  /** Signs the tokens of the calls. */
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
}

const TIMEOUT_MS = 5_000;
/** Most keys in one call. */
const KEYS_MAX = 200;

/** A client of the service that keeps secrets. It connects on first use. */
export function createSecretsClient(options: SecretsClientOptions): SecretsClient {
  const secrets = createRpcClient(SecretsServiceService, {
    address: options.address,
    minter: createTokenMinter(options.tokenSigner, { audience: "integrations" }),
    tls: options.tls,
    tracer: options.tracer,
    defaultTimeoutMs: TIMEOUT_MS,
  });
  return {
    async resolve({ companyId, requestId, traceparent }, workflowId, keys, signal) {
      const call = {
        identity: resolverOf(companyId),
        requestId: requestId ?? undefined,
        traceparent: traceparent ?? undefined,
        signal,
      };
      const calls = chunksOf([...new Set(keys)], KEYS_MAX).map((chunk) =>
        secrets.resolveSecrets({ workflowId, keys: chunk }, call),
      );
      const answers = await Promise.all(calls);
      return new Map(answers.flatMap(secretsIn));
    },
    close: () => secrets.close(),
  };
}

function secretsIn({ values, bound }: ResolveSecretsResponse): [string, RunSecret][] {
  return [
    ...Object.entries(values).map(([key, value]): [string, RunSecret] => [
      key,
      { value, allowedHosts: null },
    ]),
    ...Object.entries(bound).map(([key, { value, allowedHosts }]): [string, RunSecret] => [
      key,
      { value, allowedHosts },
    ]),
  ];
}

/** The service acts in its own name, for the run's company. */
function resolverOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "service", id: "runs" },
    scopes: ["internal:secrets"],
  };
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const chunks: Item[][] = [];
  for (let start = 0; start < items.length; start += size) {
    chunks.push(items.slice(start, start + size));
  }
  return chunks;
}
