import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

/**
 * Certificates in PEM. On a server `ca` turns on mutual TLS: only clients with a certificate of that
 * authority may connect. On a client `ca` is the authority of servers (by default the system's), and `cert`
 * with `key` is the client's certificate.
 */
export interface Certificates {
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  ca?: Buffer | undefined;
  /** The name to expect in the server's certificate when it differs from the address (client). */
  serverName?: string | undefined;
}

/** The paths of the PEM files. */
export interface CertificateFiles {
  certFile?: string | undefined;
  keyFile?: string | undefined;
  caFile?: string | undefined;
}

/**
 * Reads the named files; null when none is named.
 *
 * @throws Error with the setting of a file that is missing, unreadable or of other content, or of a key that
 * belongs to another certificate
 */
export async function readCertificates(files: CertificateFiles): Promise<Certificates | null> {
  const { certFile, keyFile, caFile } = files;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [given, other] = certFile === undefined ? ["KEY", "CERT"] : ["CERT", "KEY"];
    throw new Error(
      `GRPC_TLS_${given}_FILE is set and GRPC_TLS_${other}_FILE is not: TLS needs both a certificate file and a key file.`,
    );
  }
  const cert = await readPem("GRPC_TLS_CERT_FILE", certFile, assertCertificates);
  const key = await readPem("GRPC_TLS_KEY_FILE", keyFile, createPrivateKey);
  const ca = await readPem("GRPC_TLS_CA_FILE", caFile, assertCertificates);
  if (cert !== undefined && key !== undefined) assertPair(cert, key);
  return cert === undefined && ca === undefined ? null : { cert, key, ca };
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

/**
 * Checks each certificate of a chain or a bundle: a file that ends after the first certificate may be half
 * written.
 */
function assertCertificates(pem: Buffer): void {
  const beginnings = pem.toString("latin1").split(/(?=-----BEGIN)/);
  const blocks = beginnings.filter((block) => block.startsWith("-----BEGIN"));
  if (blocks.length === 0) throw new Error("There is no certificate.");
  for (const block of blocks) void new X509Certificate(block);
}

function assertPair(cert: Buffer, key: Buffer): void {
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return;
  throw new Error("GRPC_TLS_KEY_FILE is not the key of the certificate in GRPC_TLS_CERT_FILE.");
}
