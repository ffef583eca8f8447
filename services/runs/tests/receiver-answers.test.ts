import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble } from "@workflow/testkit";
import {
  httpStep,
  mapping,
  outputOf,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const JSON_TYPE = { "content-type": "application/json" };
const MIB = 1024 * 1024;

/** What the receiver answers, by path. */
const ANSWERS: Record<string, DoubleResponse> = {
  "/ok": { headers: JSON_TYPE, body: '{"ok":true}' },
  "/nul": {
    headers: JSON_TYPE,
    body: '{"a":"x\\u0000y","\\u0000k":"\\ud800","good":"\\ud83d\\ude00"}',
  },
  "/nul-text": { headers: { "content-type": "text/plain" }, body: "a\0b" },
  "/nul-error": { status: 422, body: `${"😀".repeat(300).slice(0, 499)}\0${"😀".repeat(300)}` },
  "/cut-error": { status: 422, body: `x${"😀".repeat(600)}` },
  "/nul-header": { headers: { ...JSON_TYPE, "x-note": "caf\u00e9" }, body: "1" },
  "/binary": { headers: { "content-type": "image/png" }, body: Buffer.from([0x89, 0xff, 0, 1]) },
  "/huge": { body: Buffer.alloc(5 * MIB, "x") },
  "/escapes": { headers: { "content-type": "text/plain" }, body: "\u0001".repeat(3 * MIB) },
  "/deep": { headers: JSON_TYPE, body: `${"[".repeat(100_000)}${"]".repeat(100_000)}` },
  "/redirect": { status: 302, headers: { location: "/ok" } },
  "/not-json": { headers: JSON_TYPE, body: "{oops" },
  "/proto": { headers: JSON_TYPE, body: '{"__proto__":{"admin":true},"constructor":1}' },
};

/** Answers that differ from request to request, by path. */
const ANSWERS_IN_TURN = new Map<string, DoubleResponse[]>();

let harness: RunsHarness;
let receiver: HttpDouble;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble(
    ({ path }) => ANSWERS_IN_TURN.get(path)?.shift() ?? ANSWERS[path] ?? {},
  );
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const runSteps = async (steps: readonly unknown[]) => harness.runToEnd(await harness.deploy(steps));

const call = (path: string, config: object = {}, more: object = {}) =>
  httpStep("call", `${receiver.url}${path}`, config, more);

function bodyOf(run: Run): unknown {
  const output = outputOf(run);
  return typeof output === "object" && output !== null && "body" in output
    ? output.body
    : undefined;
}

describe("a receiver's answer", () => {
  it("is stored with U+FFFD in place of NUL and lone surrogates, and given on so", async () => {
    const run = await runSteps([
      call("/nul"),
      mapping("m", "{{steps.call.output.body}}"),
      call("/ok", { body: { quoted: "{{steps.call.output.body.a}}" } }, { id: "again" }),
      mapping("last", "{{steps.m.output}}"),
    ]);
    expect(outputOf(run)).toEqual({ a: "x\uFFFDy", "\uFFFDk": "\uFFFD", good: "😀" });
    expect(receiver.requests.at(-1)?.body).toBe('{"quoted":"x\uFFFDy"}');
  });

  it("as plain text is cleaned in the same way", async () => {
    expect(bodyOf(await runSteps([call("/nul-text")]))).toBe("a\uFFFDb");
  });

  it.each(["/nul-error", "/cut-error"])(
    "of an error status can be shown, whatever is in it: %s",
    async (path) => {
      const run = await runSteps([call(path)]);
      expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "HTTP_STATUS" } });
      const details = run.error?.detailsJson ?? "";
      expect(details).toContain("😀");
      expect(details).not.toMatch(/\\u0000|\\ud8/);
      expect(resultsOf(run)).toMatchObject([{ path: "call", error: "HTTP_STATUS" }]);
    },
  );

  it("of an error status can be kept with the attempts before the last", async () => {
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    ANSWERS["/flaky"] = { status: 503, body: "\0\ud800" };
    const run = await runSteps([call("/flaky", {}, { retry })]);
    expect(run.error?.code).toBe("HTTP_STATUS");
    expect(run.stepResults[0]?.previousAttempts).toHaveLength(1);
  });

  it.each([
    [500, true],
    [502, true],
    [504, true],
    [408, true],
    [409, false],
    [429, false],
  ])("of %i leaves the next attempt the same key: %s", async (status, isSame) => {
    const path = `/again-${status}`;
    const answers: DoubleResponse[] = [{ status }, {}];
    ANSWERS_IN_TURN.set(path, answers);
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    const run = await runSteps([call(path, { method: "POST" }, { retry })]);
    expect(run.status).toBe(RunStatus.COMPLETED);
    const [first, second] = receiver.requests
      .filter((request) => request.path === path)
      .map(({ idempotencyKey }) => idempotencyKey);
    expect(first).toBe(`${run.id}:call:1`);
    expect(second).toBe(isSame ? first : `${run.id}:call:2`);
  });

  it("is base64 when it is binary", async () => {
    expect(outputOf(await runSteps([call("/binary")]))).toMatchObject({
      body: "if8AAQ==",
      bodyEncoding: "base64",
    });
  });

  it.each([
    ["is more than 4 MiB", "/huge", "RESPONSE_TOO_LARGE"],
    ["is more than 4 MiB as JSON", "/escapes", "OUTPUT_TOO_LARGE"],
  ])("that %s fails the step", async (_kind, path, code) => {
    const run = await runSteps([call(path)]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code } });
  });

  it("that nests too deep, or is no JSON, is text", async () => {
    expect(bodyOf(await runSteps([call("/deep")]))).toBe(ANSWERS["/deep"]?.body);
    expect(bodyOf(await runSteps([call("/not-json")]))).toBe("{oops");
  });

  it("keeps the keys __proto__ and constructor as plain keys", async () => {
    const run = await runSteps([
      call("/proto"),
      mapping("m", ["{{steps.call.output.body}}", "{{steps.call.output.body.admin}}"]),
    ]);
    expect(run.outputJson).toBe('[{"__proto__":{"admin":true},"constructor":1},null]');
  });

  it("that is a redirect is not followed, unless the step says so", async () => {
    const before = receiver.requests.length;
    const run = await runSteps([call("/redirect")]);
    expect(run.error?.code).toBe("HTTP_STATUS");
    expect(receiver.requests.slice(before).map(({ path }) => path)).toEqual(["/redirect"]);
    const followed = await runSteps([call("/redirect", { method: "GET", followRedirects: 1 })]);
    expect(bodyOf(followed)).toEqual({ ok: true });
  });
});
