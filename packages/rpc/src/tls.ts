import { credentials, experimental, ServerCredentials } from "@grpc/grpc-js";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { isOnThisMachine } from "./address.ts";
import { grpcCertificateProvider } from "./grpc-certificate-provider.ts";
import { readCertificates } from "./read-certificates.ts";
import type { CertificateFiles, Certificates } from "./read-certificates.ts";
import { RenewedCertificates } from "./renewed-certificates.ts";

/**
 * The protection of a connection. TLS has certificates that stay, or those of files that are
 * renewed. Plain text to any address is for connections that something beneath protects (a service
 * mesh).
 */
export type RpcTls = Certificates | RenewedCertificates | "plain-text-allowed";

/** The settings of connections: where the PEM files are. */
export interface RpcTlsFiles extends CertificateFiles {
  /** Whether plain text may leave the machine when there are no files. */
  allowPlaintext?: boolean;
}

/**
 * Reads the files that are named; undefined means plain text within this machine. A caller that
 * follows the files takes up later changes.
 *
 * @throws Error naming the setting of a file that is missing, cannot be read, or holds something
 * else
 */
export async function loadTls(
  settings: RpcTlsFiles,
): Promise<RenewedCertificates | "plain-text-allowed" | undefined> {
  const read = await readCertificates(settings);
  if (read !== null) return new RenewedCertificates(settings, read);
  return settings.allowPlaintext === true ? "plain-text-allowed" : undefined;
}

/** The credentials of a server that listens on an address. Throws like channelCredentials. */
export function serverCredentials(
  address: string,
  security: RpcTls | undefined,
): ServerCredentials {
  const tls = tlsOf(address, security);
  if (tls === undefined) return ServerCredentials.createInsecure();
  const now = currentCertificates(tls);
  if (now.cert === undefined || now.key === undefined) {
    throw new Error("A TLS server needs a certificate and a key.");
  }
  if (tls instanceof RenewedCertificates) {
    const provider = grpcCertificateProvider(tls);
    // The first parameter gives the pair, whatever its name there (grpc-js 1.14).
    return experimental.createCertificateProviderServerCredentials(
      provider,
      now.ca === undefined ? null : provider,
      now.ca !== undefined,
    );
  }
  const pair = { cert_chain: now.cert, private_key: now.key };
  return ServerCredentials.createSsl(now.ca ?? null, [pair], now.ca !== undefined);
}

/**
 * The credentials of a client's channel to an address.
 *
 * @throws Error when tokens and data would leave this machine in plain text without leave
 */
export function channelCredentials(
  address: string,
  security: RpcTls | undefined,
): ChannelCredentials {
  const tls = tlsOf(address, security);
  if (tls === undefined) return credentials.createInsecure();
  if (tls instanceof RenewedCertificates) {
    const provider = grpcCertificateProvider(tls);
    const identity = tls.current().cert === undefined ? null : provider;
    return experimental.createCertificateProviderChannelCredentials(provider, identity);
  }
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null);
}

/** The name that a client is told to expect in the server's certificate. */
export function serverNameOf(security: RpcTls | undefined): string | undefined {
  return typeof security === "object" && !(security instanceof RenewedCertificates)
    ? security.serverName
    : undefined;
}

/** The certificates of this moment. */
export function currentCertificates(tls: Certificates | RenewedCertificates): Certificates {
  return tls instanceof RenewedCertificates ? tls.current() : tls;
}

function tlsOf(
  address: string,
  security: RpcTls | undefined,
): Certificates | RenewedCertificates | undefined {
  if (security === "plain-text-allowed") return undefined;
  if (security !== undefined || isOnThisMachine(address)) return security;
  throw new Error(
    `gRPC in plain text beyond this machine is refused: ${address}. Set GRPC_TLS_CERT_FILE, ` +
      `GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE, or GRPC_ALLOW_PLAINTEXT=true where the network ` +
      `itself encrypts.`,
  );
}
