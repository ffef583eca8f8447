import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { freePort, waitFor } from "@workflow/testkit";
import { IN_FLIGHT_MAX } from "../src/affine-picker.ts";
import { createRpcClient, rpc } from "../src/index.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";
import type { Word } from "./support.ts";

/*
 * The key of a call is its text. Each server answers with its own name, so that a test sees who has answered.
 */

type Handler = (word: Word, signal: AbortSignal) => Promise<unknown>;

interface Server {
  readonly address: string;
  readonly name: string;
  /** Stops the server; calls that are not answered in the time end with UNAVAILABLE. */
  stop(graceMs?: number): Promise<void>;
  start(): Promise<void>;
}

let scope: Scope;
beforeEach(() => {
  scope = createScope();
});
afterEach(() => scope.close());

const KEYS = Array.from({ length: 200 }, (_, index) => `table-${index}`);

async function serverAt(name: string, handler: Handler = async () => {}): Promise<Server> {
  const address = `127.0.0.1:${await freePort()}`;
  let running: Awaited<ReturnType<typeof startEcho>> | undefined;
  const stop = async (graceMs = 5_000): Promise<void> => {
    running?.client.close();
    await running?.server.close(graceMs);
    running = undefined;
  };
  scope.defer(() => stop(0));
  const say = rpc({
    scopes: "words:read",
    handler: async (word: Word, { signal }) => {
      await handler(word, signal);
      return { text: name };
    },
  });
  const start = async () => {
    running = await startEcho({ say }, { address });
  };
  return { address, name, stop, start };
}

async function started(name: string, handler?: Handler): Promise<Server> {
  const server = await serverAt(name, handler);
  await server.start();
  return server;
}

/** Asks as a client that knows these servers; resolves with the name of the server that has answered. */
function clientOf(...servers: readonly Server[]) {
  const address = servers.map((server) => server.address).join(",");
  const client = createRpcClient(EchoService, {
    address,
    minter,
    affinity: { say: ({ text }) => text },
  });
  scope.defer(() => client.close());
  const ask = async (text: string, timeoutMs = 60_000) =>
    (await client.say({ text }, { identity: alice, timeoutMs })).text;
  const askAll = async () =>
    new Map(await Promise.all(KEYS.map(async (key) => [key, await ask(key)] as const)));
  /** Waits until the client is connected to all servers. */
  const connected = (count = servers.length) =>
    waitFor(async () => new Set((await askAll()).values()).size === count);
  return { ask, askAll, connected };
}

/** The key that the answers say to belong to a server. */
function keyOf({ name }: Server, owners: ReadonlyMap<string, string>): string {
  for (const [key, owner] of owners) if (owner === name) return key;
  throw new Error(`No key belongs to ${name}.`);
}

describe("calls about one thing", () => {
  it("go to one replica, the same from each client, and things are spread over the replicas", async () => {
    const [a, b, c] = [await started("a"), await started("b"), await started("c")];
    const [first, second] = [clientOf(a, b, c), clientOf(c, a, b)];
    await first.connected();
    await second.connected();
    const owners = await first.askAll();
    for (let round = 0; round < 3; round += 1) {
      expect(await first.askAll()).toEqual(owners);
      expect(await second.askAll()).toEqual(owners);
    }
    expect(new Set(owners.values())).toEqual(new Set(["a", "b", "c"]));
  });

  it("go to the next replica while theirs is away, and come back with it, and no call fails", async () => {
    const servers = [await started("a"), await started("b"), await started("c")] as const;
    const { askAll, connected } = clientOf(...servers);
    await connected();
    const owners = await askAll();

    let isOver = false;
    const asking = (async () => {
      while (!isOver) await askAll();
    })();
    asking.catch(() => {});
    await servers[0].stop();
    const without = await askAll();
    isOver = true;
    await asking;
    for (const [key, owner] of owners) {
      if (owner === "a") expect(["b", "c"]).toContain(without.get(key));
      else expect(without.get(key)).toBe(owner);
    }

    await servers[0].start();
    await connected();
    expect(await askAll()).toEqual(owners);
  });

  it("move to a replica that is added only where it comes first for them", async () => {
    const [a, b, added] = [await started("a"), await started("b"), await serverAt("added")];
    const { askAll, connected } = clientOf(a, b, added);
    await connected(2);
    const before = await askAll();
    await added.start();
    await connected(3);
    const after = await askAll();
    const moved = KEYS.filter((key) => after.get(key) !== before.get(key));
    expect(new Set(moved.map((key) => after.get(key)))).toEqual(new Set(["added"]));
    // A third is expected, 67 with a standard deviation of 6.7.
    expect(moved.length).toBeLessThan(KEYS.length / 2);
  });

  it("spill over to the next replica beyond a number in flight, and other things do not", async () => {
    const held = Promise.withResolvers<void>();
    const received = { a: 0, b: 0 };
    let heldKey: string | undefined;
    const handle = (name: "a" | "b") => async (word: Word) => {
      if (word.text !== heldKey) return;
      received[name] += 1;
      if (name === "a") await held.promise;
    };
    const [a, b] = [await started("a", handle("a")), await started("b", handle("b"))];
    const { ask, askAll, connected } = clientOf(a, b);
    await connected();
    const owners = await askAll();
    const key = keyOf(a, owners);
    heldKey = key;
    const waiting = [];
    for (let count = 1; count <= IN_FLIGHT_MAX; count += 1) {
      waiting.push(ask(key));
      await waitFor(() => received.a === count);
    }
    expect(await ask(key)).toBe("b");
    expect(received).toEqual({ a: IN_FLIGHT_MAX, b: 1 });
    for (const [other, owner] of owners) if (other !== key) expect(await ask(other)).toBe(owner);

    held.resolve();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["a"]));
    expect(await ask(key)).toBe("a");
  });
});

describe("a replica that answers UNAVAILABLE", () => {
  const away = new AppError("UNAVAILABLE", "The database is away.");

  it("has its calls repeated at the next one", async () => {
    let isAway = false;
    const a = await started("a", async () => {
      if (isAway) throw away;
    });
    const { ask, askAll, connected } = clientOf(a, await started("b"));
    await connected();
    const key = keyOf(a, await askAll());
    isAway = true;
    expect(await ask(key)).toBe("b");
    isAway = false;
    expect(await ask(key)).toBe("a");
  });

  it("and says when to come again has its calls repeated nowhere", async () => {
    const refused = new AppError("UNAVAILABLE", "The table is refused.", { retryAfterMs: 1_000 });
    let attempts = 0;
    let isRefusing = false;
    const handler = async () => {
      if (!isRefusing) return;
      attempts += 1;
      throw refused;
    };
    const { ask, connected } = clientOf(await started("a", handler), await started("b", handler));
    await connected();
    isRefusing = true;
    const error = { reason: "UNAVAILABLE", retryAfterMs: 1_000 };
    expect(await rejection(ask("key"))).toMatchObject(error);
    expect(attempts).toBe(1);
  });

  it("and is stopped has the calls that it had begun answered by the next one", async () => {
    let begun = 0;
    let heldKey: string | undefined;
    const a = await started("a", async ({ text }, signal) => {
      if (text !== heldKey) return;
      begun += 1;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    });
    const { ask, askAll, connected } = clientOf(a, await started("b"));
    await connected();
    heldKey = keyOf(a, await askAll());
    const waiting = ask(heldKey);
    await waitFor(() => begun === 1);
    await a.stop(0);
    expect(await waiting).toBe("b");
  });

  it("gets no more repeated calls than a few when the others answer so, too", async () => {
    let attempts = 0;
    let isAway = false;
    const handler = async () => {
      if (!isAway) return;
      attempts += 1;
      throw away;
    };
    const { ask, connected } = clientOf(await started("a", handler), await started("b", handler));
    await connected();
    isAway = true;
    const calls = 100;
    for (let count = 0; count < calls; count += 1) {
      expect(await rejection(ask("key"))).toMatchObject({ reason: "UNAVAILABLE" });
    }
    expect(attempts).toBeGreaterThan(calls);
    expect(attempts).toBeLessThan(calls + 10);
  });

  it("is not asked twice for a method without affinity", async () => {
    let attempts = 0;
    const handler = async () => {
      attempts += 1;
      throw away;
    };
    const servers = [await started("a", handler), await started("b", handler)];
    const address = servers.map((server) => server.address).join(",");
    const client = createRpcClient(EchoService, { address, minter });
    scope.defer(() => client.close());
    const call = client.say({ text: "key" }, { identity: alice, timeoutMs: 60_000 });
    expect(await rejection(call)).toMatchObject({ reason: "UNAVAILABLE" });
    expect(attempts).toBe(1);
  });
});
