import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

/**
 * Certificates, all PEM. A server with `ca` lets in only clients with a certificate of that
 * authority (mutual TLS). A client checks servers against `ca` (the system's authorities when left
 * out), and shows `cert` with `key`.
 */
export interface Certificates {
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  ca?: Buffer | undefined;
  /** The name to expect in the server's certificate when it differs from the address (client). */
  serverName?: string | undefined;
}

/** Where the PEM files are. */
export interface CertificateFiles {
  certFile?: string | undefined;
  keyFile?: string | undefined;
  caFile?: string | undefined;
}

/**
 * Reads the files that are named; null when none is.
 *
 * @throws Error naming the setting of a file that is missing, cannot be read, or holds something else, or that a
 * key is of another certificate
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

/** Every certificate of a chain or a bundle is parsed: a file may be cut off after the first. */
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
