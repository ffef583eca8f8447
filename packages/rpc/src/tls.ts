import { createPrivateKey, X509Certificate } from "node:crypto";
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

/**
 * Reads the files that are named; undefined means plain text within this machine.
 *
 * @throws Error naming the setting of a file that is missing, cannot be read, or holds something else
 */
export async function loadTls(settings: RpcTlsFiles): Promise<RpcTls | undefined> {
  const { certFile, keyFile, caFile } = settings;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [given, other] = certFile === undefined ? ["KEY", "CERT"] : ["CERT", "KEY"];
    throw new Error(
      `GRPC_TLS_${given}_FILE is set and GRPC_TLS_${other}_FILE is not: TLS needs both a certificate file and a key file.`,
    );
  }
  const cert = await readPem("GRPC_TLS_CERT_FILE", certFile, (pem) => new X509Certificate(pem));
  const key = await readPem("GRPC_TLS_KEY_FILE", keyFile, createPrivateKey);
  const ca = await readPem("GRPC_TLS_CA_FILE", caFile, (pem) => new X509Certificate(pem));
  if (cert !== undefined && key !== undefined) assertPair(cert, key);
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

async function readPem(
  setting: string,
  file: string | undefined,
  parse: (pem: Buffer) => unknown,
): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  let pem: Buffer;
  try {
    pem = await readFile(file);
  } catch (cause) {
    throw new Error(`${setting}: ${file} cannot be read.`, { cause });
  }
  try {
    parse(pem);
  } catch (cause) {
    throw new Error(`${setting}: ${file} is not the PEM file that it should be.`, { cause });
  }
  return pem;
}

function assertPair(cert: Buffer, key: Buffer): void {
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  throw new Error("GRPC_TLS_KEY_FILE is not the key of the certificate in GRPC_TLS_CERT_FILE.");
}
