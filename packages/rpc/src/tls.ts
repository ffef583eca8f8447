import { readFile } from "node:fs/promises";
import { credentials, ServerCredentials } from "@grpc/grpc-js";
import type { ChannelCredentials } from "@grpc/grpc-js";
import { isOnThisMachine } from "./address.ts";

/**
 * Certificates, all PEM. On a server `ca` turns on mutual TLS: only clients with a certificate of
 * that authority are let in. On a client `ca` is what servers are checked against (the system's
 * authorities when left out), and `cert` with `key` is what it shows of itself.
 */
interface Certificates {
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  ca?: Buffer | undefined;
  /** The name to expect in the server's certificate when it differs from the address (client). */
  serverName?: string | undefined;
}

/**
 * How a connection is protected: by TLS; or not at all, whatever the address, because something
 * beneath it does (a service mesh).
 */
export type RpcTls = Certificates | "plain-text-allowed";

/** What the settings say of connections: where the PEM files are. */
export interface RpcTlsFiles {
  certFile?: string | undefined;
  keyFile?: string | undefined;
  caFile?: string | undefined;
  /** Whether plain text may leave the machine when there are no files. */
  allowPlaintext?: boolean;
}

/** Reads the files that are named; undefined means plain text within this machine. */
export async function loadTls(settings: RpcTlsFiles): Promise<RpcTls | undefined> {
  const cert = await readOptional(settings.certFile);
  const key = await readOptional(settings.keyFile);
  const ca = await readOptional(settings.caFile);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error("TLS needs both a certificate file and a key file.");
  }
  if (cert !== undefined || ca !== undefined) return { cert, key, ca };
  return settings.allowPlaintext === true ? "plain-text-allowed" : undefined;
}

/** The credentials of a server that listens on an address. Throws like channelCredentials. */
export function serverCredentials(
  address: string,
  security: RpcTls | undefined,
): ServerCredentials {
  const tls = tlsOf(address, security);
  if (tls === undefined) return ServerCredentials.createInsecure();
  if (tls.cert === undefined || tls.key === undefined) {
    throw new Error("A TLS server needs a certificate and a key.");
  }
  const pair = { cert_chain: tls.cert, private_key: tls.key };
  return ServerCredentials.createSsl(tls.ca ?? null, [pair], tls.ca !== undefined);
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
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null);
}

/** The name that a client is told to expect in the server's certificate. */
export function serverNameOf(security: RpcTls | undefined): string | undefined {
  return typeof security === "object" ? security.serverName : undefined;
}

function tlsOf(address: string, security: RpcTls | undefined): Certificates | undefined {
  if (security === "plain-text-allowed") return undefined;
  if (security !== undefined || isOnThisMachine(address)) return security;
  throw new Error(
    `gRPC in plain text beyond this machine is refused: ${address}. Set GRPC_TLS_CERT_FILE, ` +
      `GRPC_TLS_KEY_FILE and GRPC_TLS_CA_FILE, or GRPC_ALLOW_PLAINTEXT=true where the network ` +
      `itself encrypts.`,
  );
}

async function readOptional(file: string | undefined): Promise<Buffer | undefined> {
  return file === undefined ? undefined : readFile(file);
}
