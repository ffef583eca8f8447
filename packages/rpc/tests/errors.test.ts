import { randomBytes } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import type { ServiceError } from "@grpc/grpc-js";
import { freePort } from "@workflow/testkit";
import { AppError, GRPC_CODE_BY_REASON, isReason } from "@workflow/errors";
import type { AppErrorOptions } from "@workflow/errors";
import { createRpcClient, fromServiceError, rpc } from "../src/index.ts";
import { alice, EchoService, minter, rejection, startEcho } from "./support.ts";
import type { Word } from "./support.ts";
import { startThrowing, rawStatus } from "./failing-echo.ts";

const REASONS = Object.keys(GRPC_CODE_BY_REASON).filter(isReason);

function fail(): never {
  throw new Error("boom");
}

/** A message whose serialization throws. */
class Unserializable {
  readonly text = "";
  readonly toJSON = fail;
}

const throwing = rpc<Word, Word>({ scopes: "words:read", handler: fail });
const unserializable = rpc<Word, Word>({
  scopes: "words:read",
  handler: async () => new Unserializable(),
});

describe("an AppError thrown in a handler", () => {
  it.each(REASONS)("arrives at the client with its reason: %s", async (reason) => {
    await using echo = await startThrowing(() => new AppError(reason, "What happened."));

    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));

    expect(error).toMatchObject({ name: "AppError", reason, message: "What happened." });
  });

  it("keeps violations, details and the time to wait", async () => {
    const options: AppErrorOptions = {
      violations: [
        { path: ["steps", "0", "a.b"], message: "is unknown" },
        { path: [], message: "is empty – völlig" },
      ],
      details: { currentStatus: "paused", allowed: ["active"], nested: { n: 1.5, nothing: null } },
      retryAfterMs: 61_250,
    };
    await using echo = await startThrowing(
      () => new AppError("VALIDATION_ERROR", "The definition is wrong.", options),
    );

    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));

    expect(error).toMatchObject({ reason: "VALIDATION_ERROR", ...options });
  });

  it("is UNAVAILABLE where the server is too old to know the call", async () => {
    await using echo = await startEcho();
    const say = { ...EchoService.say, path: "/test.v1.EchoService/SayBetter" };
    const client = createRpcClient({ say }, { address: echo.address, minter });
    const error = await rejection(client.say({ text: "" }, { identity: alice }));
    client.close();
    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("keeps its internal text and its cause to itself", async () => {
    await using echo = await startThrowing(
      () =>
        new AppError("CONFLICT", "It exists.", {
          internal: "constraint tables_name_key",
          cause: new Error("row (42)"),
        }),
    );

    const status = await rawStatus(echo.address);

    expect(JSON.stringify([status.details, status.metadata.toJSON()])).not.toMatch(
      /tables_name_key|row \(42\)/,
    );
  });

  it("also ends a stream that has begun", async () => {
    await using echo = await startEcho({
      repeat: {
        kind: "server-stream",
        scopes: "words:read",
        async *handler() {
          yield { text: "one" };
          throw new AppError("INVALID_STATE", "No more.");
        },
      },
    });
    const received: string[] = [];

    const error = await rejection(
      (async () => {
        for await (const { text } of echo.client.repeat({ text: "" }, { identity: alice })) {
          received.push(text);
        }
      })(),
    );

    expect(received).toEqual(["one"]);
    expect(error).toMatchObject({ reason: "INVALID_STATE", message: "No more." });
  });

  it("is cut so that it never breaks the limits of a header", async () => {
    const many = Array.from({ length: 500 }, (_, i) => ({
      path: ["steps", String(i)],
      message: "ä".repeat(2_000),
    }));
    await using echo = await startThrowing(
      () =>
        new AppError("VALIDATION_ERROR", `\u{1F600}\uD800${"日本".repeat(50_000)}`, {
          violations: many,
          details: "x".repeat(100_000),
        }),
    );

    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));
    const status = await rawStatus(echo.address);

    expect(error).toMatchObject({ reason: "VALIDATION_ERROR", details: undefined });
    expect(error).toHaveProperty("message", expect.stringMatching(/^\u{1F600}\uFFFD日本.*…$/u));
    const { violations } = error instanceof AppError ? error : { violations: [] };
    expect(violations[0]).toMatchObject({ path: ["steps", "0"] });
    expect(violations.at(-1)).toEqual({
      path: [],
      message: `${500 - (violations.length - 1)} more problems are not listed.`,
    });
    expect(trailerBytes(status)).toBeLessThan(8_000);
  });

  it("keeps fifty violations of the usual kind, and of unusual ones as many as there is room for", async () => {
    const usual = Array.from({ length: 50 }, (_, i) => ({
      path: ["steps", String(i), "config", "steps", "0", "config", "mapping"],
      message: `Step "step-${i}" refers to step "gone-${i}", which does not exist.`,
    }));
    // The texts have no repetition, so they hardly compress.
    const unusual = usual.map(({ path }) => ({ path, message: randomBytes(200).toString("hex") }));
    let violations = usual;
    await using echo = await startThrowing(
      () => new AppError("VALIDATION_ERROR", "The definition is wrong.", { violations }),
    );

    expect(await rejection(echo.client.say({ text: "" }, { identity: alice }))).toMatchObject({
      violations: usual,
    });
    expect(trailerBytes(await rawStatus(echo.address))).toBeLessThan(8_000);

    violations = unusual;
    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));
    const received = error instanceof AppError ? error.violations : [];
    expect(received.length).toBeGreaterThan(3);
    expect(received.slice(0, -1)).toEqual(unusual.slice(0, received.length - 1));
    expect(received.at(-1)?.message).toBe(`${51 - received.length} more problems are not listed.`);
    expect(trailerBytes(await rawStatus(echo.address))).toBeLessThan(8_000);
  });

  it("survives details that are not JSON", async () => {
    await using echo = await startThrowing(
      () => new AppError("CONFLICT", "It exists.", { details: { count: 1n } }),
    );

    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));

    expect(error).toMatchObject({ reason: "CONFLICT", details: undefined });
  });
});

describe("anything else that goes wrong in a handler", () => {
  it("is answered with a fixed text and logged once with its cause", async () => {
    await using echo = await startThrowing(() => new Error("password=hunter2"));

    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));
    const status = await rawStatus(echo.address);

    expect(error).toMatchObject({
      reason: "INTERNAL_ERROR",
      message: "An internal error occurred.",
    });
    expect(JSON.stringify([status.details, status.metadata.toJSON()])).not.toContain("hunter2");
    const lines = echo.logged.filter(({ level }) => level === 50);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      reason: "INTERNAL_ERROR",
      err: { message: "password=hunter2" },
    });
  });

  it("is turned into an AppError by the service's own rules", async () => {
    await using echo = await startThrowing(() => new Error("unique violation"), {
      toAppError: (cause) => new AppError("CONFLICT", "It exists.", { cause }),
    });

    const error = await rejection(echo.client.say({ text: "" }, { identity: alice }));

    expect(error).toMatchObject({ reason: "CONFLICT" });
  });

  it.each([
    ["a synchronous throw", throwing],
    ["a response that cannot be serialized", unserializable],
  ])("does not end the process: %s", async (_, say) => {
    await using echo = await startEcho({ say });

    const first = await rejection(echo.client.say({ text: "" }, { identity: alice }));
    const second = await rejection(echo.client.say({ text: "" }, { identity: alice }));

    expect([first, second]).toEqual([
      expect.objectContaining({ reason: "INTERNAL_ERROR" }),
      expect.objectContaining({ reason: "INTERNAL_ERROR" }),
    ]);
  });
});

describe("messages", () => {
  it("that cannot be decoded are BAD_REQUEST", async () => {
    await using echo = await startEcho();

    const status = await rawStatus(echo.address, Buffer.from("not json"));

    expect(fromServiceError(status)).toMatchObject({ reason: "BAD_REQUEST" });
    expect(echo.outcomes).toMatchObject([{ code: "INVALID_ARGUMENT" }]);
  });

  it("above the server's limit are PAYLOAD_TOO_LARGE", async () => {
    await using echo = await startEcho({}, { maxMessageBytes: 1_000 });

    const error = await rejection(
      echo.client.say({ text: "x".repeat(2_000) }, { identity: alice }),
    );

    expect(error).toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
  });

  it("of many megabytes pass by default", async () => {
    await using echo = await startEcho();
    const text = "x".repeat(20 * 1024 * 1024);

    const response = await echo.client.say({ text }, { identity: alice, timeoutMs: 50_000 });

    expect(response.text).toHaveLength(text.length);
  });
});

describe("a server that is away", () => {
  it("is reported as UNAVAILABLE without waiting for the deadline", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const client = createRpcClient(EchoService, { address, minter });

    const error = await rejection(client.say({ text: "" }, { identity: alice, timeoutMs: 60_000 }));
    client.close();

    expect(error).toMatchObject({ reason: "UNAVAILABLE" });
    expect(error).toHaveProperty("internal", expect.stringContaining("test.v1.EchoService/Say"));
  });

  it("is used again once it is back", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const client = createRpcClient(EchoService, { address, minter });
    await rejection(client.say({ text: "" }, { identity: alice }));
    await using echo = await startEcho({}, { address });

    await client.waitForReady(10_000);
    const response = await client.say({ text: "back" }, { identity: alice });
    client.close();

    expect(echo.address).toBe(address);
    expect(response).toEqual({ text: "back" });
  });
});

/** The bytes of a failed status in the trailers; binary values are in base64. */
function trailerBytes({ details, metadata }: ServiceError): number {
  const binary = ["grpc-status-details-bin", "workflow-violations-bin"].map(
    (key) => metadata.get(key)[0]?.length ?? 0,
  );
  return binary.reduce((sum, bytes) => sum + bytes * (4 / 3), encodeURI(details).length);
}
