import { readFile } from "node:fs/promises";
import { credentials, ServerCredentials } from "@grpc/grpc-js";
import type { ChannelCredentials } from "@grpc/grpc-js";

/**
 * Certificates, all PEM. On a server `ca` turns on mutual TLS: only clients with a certificate of
 * that authority are let in. On a client `ca` is what servers are checked against (the system's
 * authorities when left out), and `cert` with `key` is what it shows of itself.
 */
export interface RpcTls {
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  ca?: Buffer | undefined;
  /** The name to expect in the server's certificate when it differs from the address (client). */
  serverName?: string | undefined;
}

/** Where the PEM files are. */
export interface RpcTlsFiles {
  certFile?: string | undefined;
  keyFile?: string | undefined;
  caFile?: string | undefined;
}

/** Reads the files that are named; returns undefined, meaning no TLS, when none is. */
export async function loadTls(files: RpcTlsFiles): Promise<RpcTls | undefined> {
  const cert = await readOptional(files.certFile);
  const key = await readOptional(files.keyFile);
  const ca = await readOptional(files.caFile);
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error("TLS needs both a certificate file and a key file.");
  }
  return cert === undefined && ca === undefined ? undefined : { cert, key, ca };
}

/** The credentials of a server; without TLS it speaks plain text. */
export function serverCredentials(tls: RpcTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  if (tls.cert === undefined || tls.key === undefined) {
    throw new Error("A TLS server needs a certificate and a key.");
  }
  const pair = { cert_chain: tls.cert, private_key: tls.key };
  return ServerCredentials.createSsl(tls.ca ?? null, [pair], tls.ca !== undefined);
}

/** The credentials of a client's channel; without TLS it speaks plain text. */
export function channelCredentials(tls: RpcTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  return credentials.createSsl(tls.ca ?? null, tls.key ?? null, tls.cert ?? null);
}

async function readOptional(file: string | undefined): Promise<Buffer | undefined> {
  return file === undefined ? undefined : readFile(file);
}
