import { createServer } from "node:https";
import type { Server, ServerOptions } from "node:https";
import type { ConnectionOptions } from "node:tls";
import type { Certificates } from "./read-certificates.ts";
import { RenewedCertificates } from "./renewed-certificates.ts";
import { currentCertificates } from "./tls.ts";
import type { RpcTls } from "./tls.ts";

/** The protection of HTTP between parts: the certificates of their gRPC. */
export type HttpTls = Certificates | RenewedCertificates;

const HANDSHAKE_MS = 10_000;

/** The certificates of gRPC, for HTTP; undefined where gRPC has none. */
export function httpTlsOf(tls: RpcTls | undefined): HttpTls | undefined {
  return tls === "plain-text-allowed" ? undefined : tls;
}

/**
 * Creates an HTTPS server. A server with an authority accepts only clients with a certificate of
 * that authority. Renewed certificates apply to new connections.
 *
 * @throws Error without a certificate and a key
 */
export function createHttpsServer(tls: HttpTls, options: ServerOptions): Server {
  const { cert, key, ca } = currentCertificates(tls);
  if (cert === undefined || key === undefined) {
    throw new Error("A TLS server needs a certificate and a key.");
  }
  const asksClients = ca !== undefined;
  const server = createServer({
    // The limit is shorter than the time of closing a server, so that no handshake outlasts the server.
    handshakeTimeout: HANDSHAKE_MS,
    ...options,
    cert,
    key,
    ca,
    requestCert: asksClients,
    rejectUnauthorized: asksClients,
  });
  if (tls instanceof RenewedCertificates) {
    const stop = tls.onRenewal((renewed) => {
      server.setSecureContext({ cert: renewed.cert, key: renewed.key, ca: renewed.ca });
    });
    server.once("close", stop);
  }
  return server;
}

/** The TLS options of a client's connection, as of now. */
export function httpsConnectOptions(tls: HttpTls): ConnectionOptions {
  const { cert, key, ca, serverName } = currentCertificates(tls);
  return { cert, key, ca, ...(serverName === undefined ? {} : { servername: serverName }) };
}
