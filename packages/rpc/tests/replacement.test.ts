import { describe, expect, it } from "@jest/globals";
import { freePort, waitFor } from "@workflow/testkit";
import { createRpcClient, rpc } from "../src/index.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";
import type { Echo } from "./support.ts";

/* Callers' experience of a rolling restart, as for a new release. */

const CALLERS = 20;

describe("a server that stops while another one goes on", () => {
  it("costs no call: those that it does not take any more go to the other one", async () => {
    const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
    let handled = 0;
    const methods = {
      say: rpc({
        scopes: "words:read",
        handler: async (request: { text: string }) => {
          handled += 1;
          return request;
        },
      }),
    };
    const start = (index: 0 | 1) => startEcho(methods, { address: addresses[index] });
    const servers: [Echo, Echo] = [await start(0), await start(1)];
    const client = createRpcClient(EchoService, { address: addresses.join(","), minter });
    let isOver = false;
    const failures: unknown[] = [];
    let answered = 0;
    const call = async (): Promise<void> => {
      while (!isOver) {
        const answer = client.say({ text: "hello" }, { identity: alice });
        await answer.then(
          () => (answered += 1),
          (error: unknown) => failures.push(error),
        );
      }
    };
    const calling = Promise.all(Array.from({ length: CALLERS }, call));
    for (const index of [0, 1, 0, 1] as const) {
      const before = answered;
      await waitFor(() => answered > before + 5 * CALLERS);
      await servers[index].server.close();
      servers[index] = await start(index);
    }
    isOver = true;
    await calling;
    client.close();
    for (const server of servers) await server[Symbol.asyncDispose]();

    expect(failures).toEqual([]);
    // A repeated call was never seen by a server before.
    expect(handled).toBe(answered);
  });
});

describe("the only server", () => {
  it("is waited for while it is replaced", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const first = await startEcho({}, { address });
    const client = createRpcClient(EchoService, { address, minter });
    expect(await client.say({ text: "before" }, { identity: alice })).toEqual({ text: "before" });
    await first.server.close();

    const waiting = client.say({ text: "meanwhile" }, { identity: alice });
    const second = await startEcho({}, { address });

    expect(await waiting).toEqual({ text: "meanwhile" });
    client.close();
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  });

  it("is not waited for when it never was there", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const client = createRpcClient(EchoService, { address, minter });
    const call = client.say({ text: "" }, { identity: alice, timeoutMs: Infinity });
    expect(await rejection(call)).toMatchObject({ reason: "UNAVAILABLE" });
    client.close();
  });
});
