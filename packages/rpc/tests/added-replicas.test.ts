/** @own-modules */
import { setImmediate as turn } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "@jest/globals";
import type * as Support from "./support.ts";
import type * as Rpc from "../src/index.ts";
import type * as Testkit from "@workflow/testkit";

/** The interval is far shorter than in service, so that many lookups fall into the test. */
const RENEW_MS = 50;
const CALLS_MIN = 2_000;
const LOOKUPS_MIN = 40;

let support: typeof Support;
let rpcPackage: typeof Rpc;
let testkit: typeof Testkit;
beforeAll(async () => {
  // grpc-js reads this variable when it is loaded, and then asks name servers itself.
  process.env["GRPC_NODE_USE_ALTERNATIVE_RESOLVER"] = "true";
  rpcPackage = await import("../src/index.ts");
  support = await import("./support.ts");
  testkit = await import("@workflow/testkit");
});

describe("a client of a name", () => {
  it.each([
    ["in turn", {}],
    ["by what calls are about", { say: ({ text }: Support.Word) => text }],
  ])(
    "calls replicas that are added later %s, leaves those that go, and no call fails",
    async (_how, affinity) => {
      const { alice, EchoService, minter, startEcho } = support;
      const counts = { first: 0, second: 0 };
      const counting = (name: keyof typeof counts) => ({
        say: rpcPackage.rpc({
          scopes: "words:read",
          handler: async (request: Support.Word) => {
            counts[name] += 1;
            return request;
          },
        }),
      });
      await using first = await startEcho(counting("first"), { address: "127.0.0.1:0" });
      const port = first.address.split(":")[1];
      await using _second = await startEcho(counting("second"), { address: `127.0.0.2:${port}` });
      let addresses = ["127.0.0.1"];
      await using names = await testkit.startDnsDouble(({ type }) =>
        type === "A" ? addresses : [],
      );
      const client = rpcPackage.createRpcClient(EchoService, {
        address: `dns://${names.address}/words.test:${port}`,
        tls: "plain-text-allowed",
        renewMs: RENEW_MS,
        minter,
        affinity,
      });
      const say = async () => {
        await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            client.say({ text: `word ${index}` }, { identity: alice }),
          ),
        );
        await turn();
      };

      await say();
      expect(counts.second).toBe(0);
      addresses = ["127.0.0.1", "127.0.0.2"];
      while (counts.second < CALLS_MIN || names.questions.length < LOOKUPS_MIN) await say();

      addresses = ["127.0.0.2"];
      const isLeft = async () => {
        const before = counts.first;
        await say();
        return counts.first === before;
      };
      while (!(await isLeft()));
      expect(counts.first).toBeGreaterThan(0);
      client.close();
    },
  );
});
