import { describe, expect, it } from "@jest/globals";
import type { ClientFacts, Identity, RpcContext } from "../src/index.ts";
import { createRpcClient, rpc, subCallOptions, toIpAddress, toUserAgent } from "../src/index.ts";
import { alice, EchoService, minter, startEcho } from "./support.ts";

async function factsSeen(identity: Identity, client: ClientFacts): Promise<ClientFacts> {
  const seen: ClientFacts[] = [];
  const say = rpc({
    scopes: "words:read",
    handler: async (request: { text: string }, context: RpcContext) => {
      seen.push(context.client);
      return request;
    },
  });
  await using echo = await startEcho({ say });
  await echo.client.say({ text: "hello" }, { identity, client });
  return seen[0] ?? {};
}

const facts = { ipAddress: "203.0.113.9", userAgent: "curl/8" };

describe("who is in front of the system", () => {
  it("is handed on from call to call", async () => {
    const seen: ClientFacts[] = [];
    const inner = rpc({
      scopes: "words:read",
      handler: async (request: { text: string }, { client }: RpcContext) => {
        seen.push(client);
        return request;
      },
    });
    await using second = await startEcho({ say: inner });
    const outer = rpc({
      scopes: "words:read",
      handler: async (request: { text: string }, context: RpcContext) =>
        second.client.say(request, subCallOptions(context)),
    });
    await using first = await startEcho({ say: outer });
    await first.client.say({ text: "hello" }, { identity: alice, client: facts });
    expect(seen).toEqual([facts]);
  });

  it("is unknown when the caller does not say", async () => {
    expect(await factsSeen(alice, {})).toEqual({});
  });

  it("is the peer, whatever it says, for the holder of a minted token", async () => {
    const holder: Identity = { ...alice, principal: { type: "token", id: "t" } };
    const seen = await factsSeen(holder, facts);
    expect(seen.ipAddress).toBe("127.0.0.1");
    expect(seen.userAgent).toMatch(/^grpc-node/);
  });

  it("is nobody in particular on a unix socket", async () => {
    const holder: Identity = { ...alice, principal: { type: "token", id: "t" } };
    const address = `unix:/tmp/rpc-client-facts-${process.pid}.sock`;
    const seen: ClientFacts[] = [];
    const say = rpc({
      scopes: "words:read",
      handler: async (request: { text: string }, { client }: RpcContext) => {
        seen.push(client);
        return request;
      },
    });
    await using echo = await startEcho({ say }, { address });
    const client = createRpcClient(EchoService, { address: echo.address, minter });
    await client.say({ text: "hello" }, { identity: holder });
    client.close();
    expect(seen[0]?.ipAddress).toBeUndefined();
  });

  it("reaches no record in any form but a plain one", () => {
    expect(toIpAddress("::ffff:203.0.113.9")).toBe("203.0.113.9");
    expect(toIpAddress(" 2001:DB8::1 ")).toBe("2001:db8::1");
    for (const text of [undefined, "", "localhost", "203.0.113.9:80", "203.0.113.9, 1.1.1.1"]) {
      expect(toIpAddress(text)).toBeUndefined();
    }
    expect(toUserAgent("a\r\nx-evil: 1\u00e9\0")).toBe("a??x-evil: 1??");
    expect(toUserAgent("x".repeat(1_000))).toHaveLength(512);
    expect(toUserAgent(" ")).toBeUndefined();
  });
});
