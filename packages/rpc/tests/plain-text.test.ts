import { describe, expect, it } from "@jest/globals";
import { createRpcClient, loadTls } from "../src/index.ts";
import { createAuthority } from "./certificates.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";

const BEYOND = ["0.0.0.0", "[::]", "10.1.2.3", "[fd00::1]", "runs.internal", "localhost.example"];
const WITHIN = ["127.0.0.1", "127.8.9.10", "[::1]", "localhost", "[::ffff:127.0.0.1]"];

/** The error names the address as in the settings, and the setting that allows it. */
const refusal = (address: string) => {
  const place = address.replaceAll(/[[\]]/g, (bracket) => `\\${bracket}`);
  return new RegExp(`plain text.*${place}.*GRPC_ALLOW_PLAINTEXT=true`);
};

describe("gRPC in plain text", () => {
  it.each(BEYOND)("is refused to a server that would listen on %s", async (host) => {
    const address = `${host}:1`;

    const error = await rejection(startEcho({}, { address }));

    expect(error).toHaveProperty("message", expect.stringMatching(refusal(address)));
  });

  it.each(BEYOND)("is refused to a client that would call %s", (host) => {
    const address = `${host}:1`;

    expect(() => createRpcClient(EchoService, { address, minter })).toThrow(refusal(address));
  });

  it.each([...WITHIN.map((host) => `${host}:1`), "unix:/tmp/no-such.sock"])(
    "is let through within this machine: %s",
    (address) => {
      createRpcClient(EchoService, { address, minter }).close();
    },
  );

  it("goes beyond this machine when the setting allows it, on both ends", async () => {
    const tls = await loadTls({ allowPlaintext: true });

    await using echo = await startEcho({}, { address: "0.0.0.0:0", tls });
    const client = createRpcClient(EchoService, { address: echo.address, minter, tls });
    const answer = await client.say({ text: "hi" }, { identity: alice });
    client.close();

    expect(answer).toEqual({ text: "hi" });
  });

  it("is not what certificates fall back to where it is allowed", async () => {
    const authority = createAuthority();
    const tls = authority.issue();

    await using echo = await startEcho({}, { address: "0.0.0.0:0", tls });
    const { ca } = authority;
    const address = echo.address.replace("0.0.0.0", "127.0.0.1");
    const client = createRpcClient(EchoService, {
      address,
      minter,
      tls: { ca, serverName: "localhost" },
    });
    const answer = await client.say({ text: "hi" }, { identity: alice });
    client.close();

    expect(answer).toEqual({ text: "hi" });
  });
});
