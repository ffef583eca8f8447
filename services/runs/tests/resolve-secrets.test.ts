import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { Identity, RpcContext, RpcServer } from "@workflow/rpc";
import { createTestTokens, freePort } from "@workflow/testkit";
import { pino } from "pino";
import { createSecretsClient } from "../src/secrets/resolve-secrets.ts";
import type { CallCause } from "../src/domain/run-facts.ts";
import type { SecretsClient } from "../src/secrets/resolve-secrets.ts";

const tokens = createTestTokens();
const tokenSigner = tokens.signerOf("runs");
const NO_ABORT = new AbortController().signal;

/** What the double was asked, and by whom. */
let calls: { workflowId: string; keys: string[]; identity: Identity; deadline: Date }[];
/** What it does before it answers with every key that does not begin with NO. */
let before: (context: RpcContext) => Promise<void>;
const isBound = (name: string): boolean => name.startsWith("BOUND");
let server: RpcServer;
let client: SecretsClient;

beforeAll(async () => {
  server = createRpcServer({
    logger: pino({ level: "silent" }),
    verifier: createTokenVerifier({
      audience: "integrations",
      publicKeys: tokens.publicKeys,
      revoked: { has: async () => false },
    }),
  });
  const unused = { scopes: "unused", handler: () => Promise.reject(new Error("unused")) };
  server.add(SecretsServiceService, {
    listSecrets: rpc(unused),
    createSecret: rpc(unused),
    replaceSecret: rpc(unused),
    deleteSecret: rpc(unused),
    resolveSecrets: rpc({
      scopes: "internal:secrets",
      async handler({ workflowId, keys }, context) {
        calls.push({ workflowId, keys, identity: context.identity, deadline: context.deadline });
        await before(context);
        const there = keys.filter((each) => !each.startsWith("NO"));
        const [bound, free] = [there.filter(isBound), there.filter((each) => !isBound(each))];
        return {
          values: Object.fromEntries(free.map((each) => [each, `value of ${each}`])),
          bound: Object.fromEntries(
            bound.map((each) => [each, { value: `value of ${each}`, allowedHosts: ["a.example"] }]),
          ),
        };
      },
    }),
  });
  const { address } = await server.listen("127.0.0.1:0");
  client = createSecretsClient({ address, tokenSigner });
});
beforeEach(() => {
  calls = [];
  before = () => Promise.resolve();
});
afterAll(async () => {
  client.close();
  await server.close(100);
});

describe("the client of the secrets service", () => {
  it("asks once for each key, in the service's own name and for the run's company", async () => {
    const [companyId, workflowId] = [newUuid(), newUuid()];
    const values = await client.resolve(
      causeOf(companyId),
      workflowId,
      ["A", "NONE", "B", "A"],
      NO_ABORT,
    );
    expect(values).toEqual(
      new Map([
        ["A", { value: "value of A", allowedHosts: null }],
        ["B", { value: "value of B", allowedHosts: null }],
      ]),
    );
    expect(calls).toMatchObject([
      {
        workflowId,
        keys: ["A", "NONE", "B"],
        identity: {
          companyId,
          principal: { type: "service", id: "runs" },
          scopes: ["internal:secrets"],
        },
      },
    ]);
    const waitMs = Number(calls[0]?.deadline) - Date.now();
    expect(waitMs).toBeLessThanOrEqual(5_000);
  });

  it("tells the secrets that are bound to hosts, and to which (D66)", async () => {
    const secrets = await client.resolve(causeOf(newUuid()), newUuid(), ["A", "BOUND"], NO_ABORT);
    expect(secrets.get("A")).toEqual({ value: "value of A", allowedHosts: null });
    expect(secrets.get("BOUND")).toEqual({ value: "value of BOUND", allowedHosts: ["a.example"] });
  });

  it("asks nothing when there is nothing to ask", async () => {
    expect(await client.resolve(causeOf(newUuid()), newUuid(), [], NO_ABORT)).toEqual(new Map());
    expect(calls).toEqual([]);
  });

  it("asks in portions of what one call may hold", async () => {
    const keys = Array.from({ length: 450 }, (_, index) => `KEY_${index}`);
    const values = await client.resolve(causeOf(newUuid()), newUuid(), keys, NO_ABORT);
    expect([...values.keys()].toSorted()).toEqual(keys.toSorted());
    expect(calls.map((call) => call.keys.length).toSorted((a, b) => b - a)).toEqual([200, 200, 50]);
  });

  it("rejects with UNAVAILABLE when the service is away", async () => {
    const nobody = createSecretsClient({ address: `127.0.0.1:${await freePort()}`, tokenSigner });
    try {
      await expect(
        nobody.resolve(causeOf(newUuid()), newUuid(), ["A"], NO_ABORT),
      ).rejects.toMatchObject({
        reason: "UNAVAILABLE",
      });
    } finally {
      nobody.close();
    }
  });

  it("hands on what the service says", async () => {
    before = () => Promise.reject(new AppError("UNAVAILABLE", "Not now."));
    await expect(
      client.resolve(causeOf(newUuid()), newUuid(), ["A"], NO_ABORT),
    ).rejects.toMatchObject({
      reason: "UNAVAILABLE",
      message: "Not now.",
    });
  });

  it("gives up, and lets the service give up, when it is aborted", async () => {
    const asked = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    before = ({ signal }) => {
      asked.resolve();
      signal.addEventListener("abort", () => cancelled.resolve());
      return cancelled.promise;
    };
    const stopping = new AbortController();
    const resolving = client.resolve(causeOf(newUuid()), newUuid(), ["A"], stopping.signal);
    const outcome = expect(resolving).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await asked.promise;
    stopping.abort();
    await outcome;
    await cancelled.promise;
  });
});

function causeOf(companyId: string): CallCause {
  return { companyId, requestId: "req-1", traceparent: null };
}
