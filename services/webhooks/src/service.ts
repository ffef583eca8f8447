import { fileURLToPath } from "node:url";
import { createRpcServer, createTokenVerifier } from "@workflow/rpc";
import type { RpcTls, VerificationKey } from "@workflow/rpc";
import type { Logger } from "pino";

/** What the service needs from its surroundings. */
export interface WebhooksServiceOptions {
  /** Where to listen: `host:port`, port 0 for a free one, or `unix:/path`. */
  grpcAddress: string;
  /** Whose tokens callers may show. */
  tokenPublicKeys: readonly VerificationKey[];
  grpcTls?: RpcTls | undefined;
  logger: Logger;
}

/** A service that accepts calls. */
export interface RunningService {
  /** The address it is really bound to. */
  grpcAddress: string;
  /** Finishes running calls and gives everything back. */
  stop(): Promise<void>;
}

const PROTO_ROOT = fileURLToPath(new URL("../../../proto", import.meta.url));

/**
 * Starts the service, which answers health and reflection.
 *
 * @throws Error when the address is taken
 */
export async function startWebhooksService(
  options: WebhooksServiceOptions,
): Promise<RunningService> {
  const server = createRpcServer({
    logger: options.logger,
    verifier: createTokenVerifier({ publicKeys: options.tokenPublicKeys }),
    tls: options.grpcTls,
    protoRoot: PROTO_ROOT,
  });
  const bound = await server.listen(options.grpcAddress);
  server.setServing(true);
  return { grpcAddress: bound.address, stop: () => server.close() };
}
