import { afterEach, describe, expect, it } from "@jest/globals";
import {
  createRpcClient,
  createTokenMinter,
  createTokenSigner,
  createTokenVerifier,
  generateSigningKey,
} from "../src/index.ts";
import type { GeneratedSigningKey, RpcClient } from "../src/index.ts";
import {
  alice,
  audience,
  EchoService,
  NONE_REVOKED,
  rejection,
  startEcho,
  tokens,
} from "./support.ts";
import type { Echo } from "./support.ts";

const oldKey = generateSigningKey();
const newKey = generateSigningKey();

const running = new Set<Echo>();
const clients = new Set<RpcClient<typeof EchoService>>();
afterEach(async () => {
  for (const client of clients) client.close();
  for (const server of running) await server[Symbol.asyncDispose]();
  running.clear();
  clients.clear();
});

/** A service that accepts the tokens of some keys. */
async function startServer(keys: readonly GeneratedSigningKey[]): Promise<Echo> {
  const verifier = createTokenVerifier({
    audience,
    publicKeys: {
      ...tokens.publicKeys,
      gateway: keys.map(({ publicKeyPem }) => publicKeyPem),
    },
    revoked: NONE_REVOKED,
  });
  const server = await startEcho({}, { verifier });
  running.add(server);
  return server;
}

/** A gateway that signs with a key. The tokens live for a few seconds, long enough for a loaded machine. */
function connect({ address }: Echo, { privateKeyPem }: GeneratedSigningKey) {
  const minter = createTokenMinter(createTokenSigner({ issuer: "gateway", privateKeyPem }), {
    audience,
    ttlSeconds: 5,
  });
  const client = createRpcClient(EchoService, { address, minter });
  clients.add(client);
  return client;
}

/** Calls again and again until stopped; rejects with the first refusal. */
function keepCalling(client: RpcClient<typeof EchoService>) {
  let isStopping = false;
  let answered = 0;
  const loop = async (): Promise<number> => {
    while (!isStopping) {
      await client.say({ text: "still there?" }, { identity: alice });
      answered += 1;
    }
    return answered;
  };
  const ended = loop();
  ended.catch(() => {});
  return {
    stop: () => {
      isStopping = true;
      return ended;
    },
  };
}

describe("a rotation of the signing key", () => {
  it("refuses no call: services learn the new key, gateways sign with it, services forget the old one", async () => {
    const before = await startServer([oldKey]);
    const calls = [keepCalling(connect(before, oldKey))];

    // 1. Services that accept both keys replace the others one by one; gateways sign as before.
    const during = await startServer([oldKey, newKey]);
    calls.push(keepCalling(connect(during, oldKey)));
    await calls[0]?.stop();

    // 2. Gateways are replaced: for a while some sign with the old key, some with the new one.
    calls.push(keepCalling(connect(during, newKey)));
    await connect(during, oldKey).say({ text: "" }, { identity: alice });
    await connect(during, newKey).say({ text: "" }, { identity: alice });
    await calls[1]?.stop();

    // 3. The old key is removed.
    const after = await startServer([newKey]);
    calls.push(keepCalling(connect(after, newKey)));
    await connect(after, newKey).say({ text: "" }, { identity: alice });

    const answered = await Promise.all(calls.map(({ stop }) => stop()));
    expect(answered).toHaveLength(4);
    expect(Math.min(...answered)).toBeGreaterThan(0);
    expect(
      [...running].flatMap(({ outcomes }) => outcomes.filter(({ code }) => code !== "OK")),
    ).toEqual([]);
    const late = rejection(connect(after, oldKey).say({ text: "" }, { identity: alice }));
    expect(await late).toMatchObject({ reason: "UNAUTHORIZED" });
  });
});
