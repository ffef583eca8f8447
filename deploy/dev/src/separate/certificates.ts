import { execFile } from "node:child_process";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { explain, StartError } from "../start-error.ts";
import type { ServiceName } from "../topology.ts";
import type { TlsFiles } from "./plan.ts";

const run = promisify(execFile);
/**
 * The certificates' lifetime. Each start makes a new authority and discards its key, so nobody else can be admitted
 * later.
 */
const DAYS = "30";
const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"] as const;

/**
 * Makes an authority and a certificate for each service with openssl, in a folder of this user. Services verify
 * each other in both directions, at the address 127.0.0.1.
 * @throws StartError when openssl is missing or fails
 */
export async function makeCertificates(
  folder: string,
  services: readonly ServiceName[],
): Promise<(service: ServiceName) => TlsFiles> {
  const pathOf = (name: string): string => join(folder, name);
  const caFile = pathOf("ca.pem");
  const caKey = pathOf("ca.key");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const authority = [
    "-subj",
    "/CN=local authority",
    "-addext",
    "basicConstraints=critical,CA:TRUE",
  ];
  const files = ["-keyout", caKey, "-out", caFile];
  await openssl("req", "-x509", ...CURVE, "-days", DAYS, ...authority, ...files);
  await writeFile(
    pathOf("extensions"),
    "subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=serverAuth,clientAuth\n",
  );
  for (const name of services) {
    const [key, request] = [pathOf(`${name}.key`), pathOf(`${name}.csr`)];
    await openssl("req", "-new", ...CURVE, "-subj", `/CN=${name}`, "-keyout", key, "-out", request);
    const signer = ["-CA", caFile, "-CAkey", caKey, "-days", DAYS];
    const made = ["-extfile", pathOf("extensions"), "-out", pathOf(`${name}.pem`)];
    await openssl("x509", "-req", "-in", request, ...signer, ...made);
    await chmod(key, 0o600);
  }
  await rm(caKey);
  return (service) => ({
    certFile: pathOf(`${service}.pem`),
    keyFile: pathOf(`${service}.key`),
    caFile,
  });
}

async function openssl(...args: string[]): Promise<void> {
  try {
    await run("openssl", args);
  } catch (error) {
    throw new StartError(`--tls needs openssl, which did not do its work: ${explain(error)}`, {
      cause: error,
    });
  }
}
