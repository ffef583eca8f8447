import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/runs";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble } from "@workflow/testkit";
import {
  delay,
  expression,
  httpStep,
  mapping,
  outputOf,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const JSON_TYPE = { "content-type": "application/json" };
const MIB = 1024 * 1024;

/** What the receiver answers, by path; no answer for any other path. */
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

let harness: RunsHarness;
let receiver: HttpDouble;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble(({ path }) => ANSWERS[path]);
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const runSteps = async (steps: readonly unknown[], settings?: object) =>
  harness.runToEnd(await harness.deploy(steps, settings === undefined ? {} : { settings }));

const call = (path: string, config: object = {}, more: object = {}) =>
  httpStep("call", `${receiver.url}${path}`, config, more);

const bodyOf = (run: Awaited<ReturnType<typeof runSteps>>) =>
  (outputOf(run) as { body: unknown }).body;

describe("time", () => {
  it("a run that is executed for too long ends with timeout, and its call is cut off", async () => {
    const run = await runSteps([mapping("a", 1), call("/never"), mapping("b", 2)], {
      timeoutMs: 300,
    });
    expect(run).toMatchObject({ status: RunStatus.TIMEOUT, error: { code: "RUN_TIMEOUT" } });
    expect(run.durationMs).toBeGreaterThanOrEqual(299);
    expect(resultsOf(run).map(({ path }) => path)).toEqual(["a"]);
  });

  it("waiting does not count against a run's timeout (D28)", async () => {
    const retry = {
      maxAttempts: 2,
      backoff: "fixed",
      delayMs: 600,
      maxDelayMs: 600,
      jitter: false,
    };
    const run = await runSteps(
      [
        delay("wait", 600),
        call("/redirect", { successStatuses: [200] }, { retry, onError: "continue" }),
        mapping("end", "end"),
      ],
      { timeoutMs: 500 },
    );
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(run.durationMs).toBeGreaterThanOrEqual(600);
  });

  it("a step that takes too long fails with TIMEOUT", async () => {
    const run = await runSteps([call("/never", {}, { timeoutMs: 100 })]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TIMEOUT" } });
  });

  it("a request that takes too long fails with TIMEOUT", async () => {
    const run = await runSteps([call("/never", { timeoutMs: 100 })]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TIMEOUT" } });
  });

  it("an expression keeps to its step's timeout", async () => {
    const run = await runSteps([expression("loop", ENDLESS, { timeoutMs: 100 })]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TIMEOUT" } });
  });
});

/** A tail call, which needs no stack and so never ends by itself. */
const ENDLESS = "($f := function($n) { $f($n + 1) }; $f(0))";

describe("a hostile expression", () => {
  it.each([
    ["an endless loop", ENDLESS],
    ["a catastrophic pattern", `$match("${"a".repeat(40)}!", /^(a+)+$/)`],
  ])("with %s ends with EXPRESSION_TIMEOUT while other runs go on", async (_kind, text) => {
    const hostile = await harness.deploy([expression("hostile", text)]);
    const good = await harness.deploy([expression("good", "1 + 1")]);
    const runIds = await Promise.all(Array.from({ length: 2 }, () => harness.start(hostile)));
    const others = await Promise.all(Array.from({ length: 20 }, () => harness.runToEnd(good)));
    expect(others.map(outputOf)).toEqual(others.map(() => 2));
    for (const runId of runIds) {
      const run = await harness.waitForEnd(runId);
      expect(run).toMatchObject({
        status: RunStatus.FAILED,
        error: { code: "EXPRESSION_TIMEOUT" },
      });
    }
  });

  it.each([
    ["recursion without an end", "($f := function($n) { 1 + $f($n + 1) }; $f(0))"],
    ["a list that doubles for ever", "($f := function($l) { $f($append($l, $l)) }; $f([1..1000]))"],
    ["a text that doubles for ever", '($f := function($t) { $f($t & $t) }; $f("xxxxxxxx"))'],
    ["ten million numbers", "$sum([1..10000000].{ 'n': $ })"],
    ["a wide text", '$pad("", 500000000, "ab")'],
  ])("with %s fails its run only", async (_kind, text) => {
    const run = await runSteps([expression("bomb", text)]);
    expect(run.status).toBe(RunStatus.FAILED);
    expect(["EXPRESSION_MEMORY", "EXPRESSION_TIMEOUT", "EXPRESSION_FAILED"]).toContain(
      run.error?.code,
    );
    expect(outputOf(await runSteps([expression("good", "1 + 1")]))).toBe(2);
  });

  it("that fills its memory ends with EXPRESSION_MEMORY", async () => {
    const filling = "$map([1..3000000], function($n) { { 'a': $n, 'b': [$n, $n] } })";
    const run = await runSteps([expression("bomb", filling)]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "EXPRESSION_MEMORY" } });
  });

  it("that nests its result too deep fails", async () => {
    const nesting =
      "($f := function($v, $n) { $n = 0 ? $v : $f({ 'v': $v }, $n - 1) }; $f(1, 3000))";
    const run = await runSteps([expression("deep", nesting)]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "EXPRESSION_FAILED" } });
  });

  it("that puts NUL into its error fails with a message that can be stored", async () => {
    const run = await runSteps([expression("bad", '$error("a\\u0000b\\ud800c")')]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "EXPRESSION_FAILED" } });
    expect(run.error?.message).toContain("a\uFFFDb\uFFFDc");
  });

  it("sees neither the process nor what other expressions left behind", async () => {
    await runSteps([expression("pollute", '{"a": 1} ~> |$|{"__proto__": {"polluted": 1}}|')]);
    const texts = [
      "$exists(polluted)",
      "$exists({}.polluted)",
      "$exists({}.constructor)",
      "$exists($.__proto__)",
      '$exists($lookup({}, "constructor"))',
      "$exists($process) or $exists(process)",
    ];
    const run = await runSteps(texts.map((text, index) => expression(`t${index}`, text)));
    expect(resultsOf(run).map(({ output }) => output)).toEqual(texts.map(() => false));
  });
});

describe("size", () => {
  it("an expression's result of more than 4 MiB fails with OUTPUT_TOO_LARGE", async () => {
    const run = await runSteps([expression("big", '$pad("", 4194304, "x")')]);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "OUTPUT_TOO_LARGE" } });
  });

  it("templates that make more than 1 MiB fail with TEMPLATE_TOO_LARGE (D19)", async () => {
    const doubling = Array.from({ length: 12 }, (_, index) => {
      const before = index === 0 ? "{{input.seed}}" : `{{steps.s${index - 1}.output}}`;
      return mapping(`s${index}`, before + before);
    });
    const workflowId = await harness.deploy(doubling);
    const run = await harness.runToEnd(workflowId, { seed: "x".repeat(1000) });
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "TEMPLATE_TOO_LARGE" } });
  });

  it("many large pure results are stored without being gathered in one piece", async () => {
    const steps = Array.from({ length: 12 }, (_, index) =>
      expression(`big${index}`, `$pad("${index}", 3000000, "x")`),
    );
    const run = await runSteps([...steps, mapping("end", "end")]);
    expect(run.error).toBeUndefined();
    expect(outputOf(run)).toBe("end");
    expect(run.stepResults).toHaveLength(13);
  });

  it("an output that does not fit the output schema fails with OUTPUT_INVALID", async () => {
    const workflowId = await harness.deploy([mapping("a", { n: "one\u0000" })], {
      outputSchema: { type: "object", properties: { n: { type: "number" } } },
    });
    const run = await harness.runToEnd(workflowId);
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "OUTPUT_INVALID" } });
    expect(JSON.parse(run.error?.detailsJson ?? "{}")).toMatchObject({
      violations: [{ path: ["n"] }],
    });
    expect(run.outputJson).toBeUndefined();
  });
});

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
      const { body } = JSON.parse(run.error?.detailsJson ?? "{}") as { body: string };
      expect(body.isWellFormed() && !body.includes("\0")).toBe(true);
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

describe("a missing secret", () => {
  const retry = { maxAttempts: 5, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };

  it.each([
    ["a config", () => call("/ok", { headers: { "x-key": "{{secrets.ABSENT}}" } }, { retry })],
    ["a mapping", () => mapping("call", "{{secrets.ABSENT}}", { retry })],
    [
      "a step's condition",
      () => mapping("call", 1, { retry, when: { left: "{{secrets.ABSENT}}", operator: "exists" } }),
    ],
  ])(
    "in %s fails the step with MISSING_SECRET at the first attempt (D19)",
    async (_kind, makeStep) => {
      const before = receiver.requests.length;
      const run = await runSteps([makeStep()]);
      expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "MISSING_SECRET" } });
      expect(resultsOf(run)).toMatchObject([{ path: "call", status: "error", attempt: 1 }]);
      expect(receiver.requests).toHaveLength(before);
    },
  );
});

it("without the permission a step reaches no private address, by number or by name", async () => {
  const strict = await startRunsHarness({ outboundAllowPrivate: false });
  const urls = [
    receiver.url,
    `https://127.0.0.1:${receiver.port}/ok`,
    `https://localhost:${receiver.port}/ok`,
    `https://[::ffff:127.0.0.1]:${receiver.port}/ok`,
    "https://169.254.169.254/latest/meta-data",
  ];
  const before = receiver.requests.length;
  for (const url of urls) {
    const run = await strict.runToEnd(await strict.deploy([httpStep("call", url)]));
    expect(run.status).toBe(RunStatus.FAILED);
    expect(["ADDRESS_NOT_ALLOWED", "INVALID_URL"]).toContain(run.error?.code);
  }
  expect(receiver.requests).toHaveLength(before);
  await strict.close();
});

it("a run that fails for a reason of ours says so and nothing more", async () => {
  const api = await startRunsHarness({ role: "api" });
  const workflowId = await api.deploy([mapping("a", 1)]);
  const runId = await api.start(workflowId);
  const { sql } = await import("@workflow/db");
  await api.database.query(sql.unsafe`update runs.deployments set steps = '[{"broken": true}]'`);
  await api.startAnother("worker");
  const run = await waitFor(async () => {
    const found = await api.get(runId);
    return found.status === RunStatus.FAILED ? found : null;
  });
  expect(run.error).toMatchObject({ code: "RUNTIME_ERROR" });
  expect(JSON.parse(run.error?.detailsJson ?? "{}")).toEqual({ triggerStatus: "SYSTEM_FAILURE" });
  await api.close();
});
