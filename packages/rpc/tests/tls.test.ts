import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { createRpcClient, loadTls, RenewedCertificates } from "../src/index.ts";
import type { RpcTls } from "../src/index.ts";
import { createAuthority } from "./certificates.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";

const authority = createAuthority();
const { ca } = authority;
const serverName = "localhost";

describe("a TLS server", () => {
  it("is trusted through the client's authority", async () => {
    await using echo = await startEcho({}, { tls: authority.issue() });

    expect(await say(echo.address, { ca, serverName })).toEqual({ text: "hi" });
  });

  it("is not trusted with a certificate of another authority, nor spoken to in plain text", async () => {
    await using echo = await startEcho({}, { tls: createAuthority().issue() });

    const errors = [
      await rejection(say(echo.address, { ca, serverName })),
      await rejection(say(echo.address, undefined)),
    ];

    expect(errors).toMatchObject([{ reason: "UNAVAILABLE" }, { reason: "UNAVAILABLE" }]);
  });

  it("with an authority of its own lets in only clients that show a certificate", async () => {
    await using echo = await startEcho({}, { tls: { ...authority.issue(), ca } });

    const answer = await say(echo.address, { ca, serverName, ...authority.issue() });
    const error = await rejection(say(echo.address, { ca, serverName }));

    expect(answer).toEqual({ text: "hi" });
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
  });
});

describe("TLS files", () => {
  it("are read when named, and none means plain text", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rpc-"));
    const { cert, key } = authority.issue();
    const files = {
      certFile: join(folder, "cert.pem"),
      keyFile: join(folder, "key.pem"),
      caFile: join(folder, "ca.pem"),
    };
    await writeFile(files.certFile, cert);
    await writeFile(files.keyFile, key);
    await writeFile(files.caFile, ca);

    const all = await loadTls(files);
    const none = await loadTls({ certFile: undefined });
    const half = await rejection(loadTls({ certFile: files.certFile }));
    await rm(folder, { recursive: true });

    expect(all).toBeInstanceOf(RenewedCertificates);
    expect(all instanceof RenewedCertificates && all.current()).toEqual({ cert, key, ca });
    expect(none).toBeUndefined();
    expect(half).toHaveProperty("message", expect.stringContaining("key file"));
  });
});

async function say(address: string, tls: RpcTls | undefined): Promise<unknown> {
  const client = createRpcClient(EchoService, { address, minter, tls });
  try {
    return await client.say({ text: "hi" }, { identity: alice });
  } finally {
    client.close();
  }
}
