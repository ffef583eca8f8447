import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import {
  createHttpsServer,
  createRpcClient,
  httpsConnectOptions,
  loadTls,
  RenewedCertificates,
} from "../src/index.ts";
import type { RpcTls } from "../src/index.ts";
import { createAuthority } from "./certificates.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";

const OFTEN_MS = 20;
const serverName = "localhost";

let folder: string;
let renewed: RenewedCertificates;
let troubles: string[];
let renewals: number;
let stop: () => void;

/** The files of a pair and of its authority, as a renewal writes them. */
async function write(authority: ReturnType<typeof createAuthority>): Promise<void> {
  const { cert, key } = authority.issue();
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  await writeFile(join(folder, "ca.pem"), authority.ca);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "renewed-"));
  await write(createAuthority());
  const files = {
    certFile: join(folder, "cert.pem"),
    keyFile: join(folder, "key.pem"),
    caFile: join(folder, "ca.pem"),
  };
  const loaded = await loadTls(files);
  if (!(loaded instanceof RenewedCertificates)) throw new Error("There are no certificates.");
  renewed = loaded;
  troubles = [];
  renewals = 0;
  const report = {
    onRenewed: () => void (renewals += 1),
    onTrouble: (reason: string) => void troubles.push(reason),
  };
  stop = renewed.follow(report, OFTEN_MS);
});
afterEach(async () => {
  stop();
  await rm(folder, { recursive: true });
});

describe("certificates that are renewed on disk", () => {
  it("are what a server shows, and whose clients it lets in, from the next connection on", async () => {
    await using echo = await startEcho({}, { tls: renewed });
    const before = renewed.current();
    const next = createAuthority();
    await write(next);
    await waitFor(() => renewals === 1);

    const answer = await say(echo.address, { ...next.issue(), ca: next.ca, serverName });
    const outdated = await rejection(say(echo.address, { ...before, serverName }));

    expect(answer).toEqual({ text: "hi" });
    expect(outdated).toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("are what a client shows, and whose servers it trusts, without a new client", async () => {
    // The name of the test's certificates.
    const byName = (address: string): string => address.replace("127.0.0.1", serverName);
    const next = createAuthority();
    await using old = await startEcho({}, { tls: { ...renewed.current() } });
    const address = byName(old.address);
    const client = createRpcClient(EchoService, { address, minter, tls: renewed });
    try {
      await client.say({ text: "hi" }, { identity: alice });
      await old.server.close(0);
      await write(next);
      await waitFor(() => renewals === 1);
      await using now = await startEcho(
        {},
        { address: old.address, tls: { ...next.issue(), ca: next.ca } },
      );
      expect(now.address).toBe(old.address);

      await waitFor(async () => {
        const answer = await client.say({ text: "again" }, { identity: alice });
        expect(answer).toEqual({ text: "again" });
      });
    } finally {
      client.close();
    }
  });

  it("leave calls that are under way and open connections alone", async () => {
    await using echo = await startEcho({}, { tls: renewed });
    const tls = { ...renewed.current(), serverName };
    const client = createRpcClient(EchoService, { address: echo.address, minter, tls });
    try {
      await client.say({ text: "hi" }, { identity: alice });
      await write(createAuthority());
      await waitFor(() => renewals === 1);

      expect(await client.say({ text: "hi" }, { identity: alice })).toEqual({ text: "hi" });
    } finally {
      client.close();
    }
  });

  it("stay the old ones while the files are half written or do not belong together", async () => {
    const certFile = join(folder, "cert.pem");
    const whole = await readFile(certFile);
    const before = renewed.current();
    const { cert } = createAuthority().issue();

    await writeFile(certFile, cert);
    await waitFor(() => renewed.trouble());
    const mismatch = renewed.trouble();
    await writeFile(certFile, whole.subarray(0, whole.length / 2));
    await waitFor(() => renewed.trouble() !== mismatch);
    const half = renewed.trouble();
    await rm(certFile);
    await waitFor(() => renewed.trouble() !== half);
    const gone = renewed.trouble();
    await writeFile(certFile, whole);
    await waitFor(() => renewed.trouble() === null);

    expect(mismatch).toMatch(/GRPC_TLS_KEY_FILE is not the key/);
    expect(half).toMatch(/GRPC_TLS_CERT_FILE: .* is not the PEM file/);
    expect(gone).toMatch(/GRPC_TLS_CERT_FILE: .* cannot be read/);
    // Each reason is reported once, however often the files are read.
    expect(troubles).toEqual([mismatch, half, gone]);
    expect(renewed.current()).toEqual(before);
    expect(renewals).toBe(0);
  });

  it("do not count as whole when a bundle is cut off after its first certificate", async () => {
    const caFile = join(folder, "ca.pem");
    const bundle = Buffer.concat([createAuthority().ca, createAuthority().ca]);
    await writeFile(caFile, bundle.subarray(0, bundle.length - 40));
    await waitFor(() => renewed.trouble());

    expect(renewed.trouble()).toMatch(/GRPC_TLS_CA_FILE/);
  });
});

describe("an HTTPS server with renewed certificates", () => {
  it("shows the new ones from the next connection on, and asks clients for theirs", async () => {
    const server = createHttpsServer(renewed, {});
    server.on("request", (_request, response) => response.end("hi"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const before = renewed.current();
      const next = createAuthority();
      expect(await get(server, before)).toBe(200);
      await write(next);
      await waitFor(() => renewals === 1);

      expect(await get(server, { ...next.issue(), ca: next.ca })).toBe(200);
      await expect(get(server, before)).rejects.toThrow();
      await expect(get(server, { ca: next.ca })).rejects.toThrow();
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

function get(
  server: ReturnType<typeof createHttpsServer>,
  tls: Parameters<typeof httpsConnectOptions>[0],
): Promise<number | undefined> {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  return new Promise((resolve, reject) => {
    const { port } = address;
    const options = { ...httpsConnectOptions(tls), servername: serverName, agent: false };
    request({ host: "127.0.0.1", port, ...options }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("error", reject)
      .end();
  });
}

async function say(address: string, tls: RpcTls): Promise<unknown> {
  const client = createRpcClient(EchoService, { address, minter, tls });
  try {
    return await client.say({ text: "hi" }, { identity: alice });
  } finally {
    client.close();
  }
}
