import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { loadTls } from "@workflow/rpc";
import { freePort, waitFor } from "@workflow/testkit";
import pino from "pino";
import { createAuthority } from "../../rpc/tests/certificates.ts";
import { createMetricsRegistry, followCertificates, startMetricsServer } from "../src/index.ts";
import { createReadiness } from "../src/readiness.ts";

const scope = createScope();
let folder: string;
let port: number;
const certFile = (): string => join(folder, "cert.pem");
const keyFile = (): string => join(folder, "key.pem");

async function write({ cert, key }: { cert: Buffer; key: Buffer }): Promise<void> {
  await writeFile(certFile(), cert);
  await writeFile(keyFile(), key);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "followed-"));
  scope.defer(() => rm(folder, { recursive: true }));
  await write(createAuthority().issue());
  const tls = await loadTls({ certFile: certFile(), keyFile: keyFile() });
  const registry = createMetricsRegistry();
  const logger = pino({ level: "silent" });
  const checks = followCertificates(tls, { registry, logger, everyMs: 20 }, scope);
  port = await freePort();
  const readiness = createReadiness(checks, () => null);
  const server = await startMetricsServer({ host: "127.0.0.1", port }, registry, readiness);
  scope.defer(() => server?.close());
});
afterAll(() => scope.close());

const page = async (path: string): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).text();

it("readiness and metrics tell of certificates that cannot be used, and of those that are renewed", async () => {
  const next = createAuthority().issue();
  await writeFile(certFile(), next.cert);
  await waitFor(async () =>
    expect(JSON.parse(await page("/readyz"))).toEqual({
      status: "ready",
      missing: [],
      impaired: [expect.stringMatching(/^certificates: GRPC_TLS_KEY_FILE is not the key/)],
      details: {},
    }),
  );
  await writeFile(keyFile(), next.key);
  await waitFor(async () =>
    expect(JSON.parse(await page("/readyz"))).toMatchObject({ impaired: [] }),
  );

  const metrics = await page("/metrics");
  expect(metrics).toMatch(/^tls_certificate_renewals_total\{outcome="refused"\} 1$/m);
  expect(metrics).toMatch(/^tls_certificate_renewals_total\{outcome="used"\} 1$/m);
  expect(metrics).toMatch(/^tls_certificate_expires_timestamp_seconds \d+$/m);
});
