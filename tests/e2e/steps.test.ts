import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  createActive,
  delay,
  failing,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import type { Run } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let outside: HttpDouble;

beforeAll(async () => {
  const seen = new Map<string, number>();
  outside = await startHttpDouble(({ path, body }) => {
    const times = (seen.get(path) ?? 0) + 1;
    seen.set(path, times);
    if (path.startsWith("/second-time") && times === 1) return { status: 503, body: "not yet" };
    if (path.startsWith("/missing")) return { status: 404, body: { why: "gone" } };
    if (path.startsWith("/stall")) return undefined;
    return { status: 200, headers: { "x-answer": "yes" }, body: { echo: body } };
  });
  system = await startWholeSystem();
});
afterAll(async () => {
  await system.stop();
  await outside.close();
});

async function run(steps: unknown[], input: unknown = {}, changes = {}): Promise<Run> {
  return runToEnd(system, await createActive(system, { steps, ...changes }), input);
}

function request(id: string, path: string, more: Record<string, unknown> = {}) {
  const { config, ...rest } = { config: {}, ...more };
  return {
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "POST", url: outside.url + path, ...config },
    ...rest,
  };
}

const resultOf = (of: Run, path: string) => of.stepResults.find((result) => result.path === path);

describe("the result of a step", () => {
  it("shows the resolved input, the output, the times and the attempt", async () => {
    const ended = await run([transform("greet", { text: "Hello {{input.name}}" })], {
      name: "Ada",
    });
    const [result] = ended.stepResults;
    expect(ended.stepResults).toHaveLength(1);
    expect(result).toMatchObject({
      stepId: "greet",
      path: "greet",
      type: "transform",
      status: "success",
      input: { mapping: { text: "Hello Ada" } },
      output: { text: "Hello Ada" },
      error: null,
      attempt: 1,
    });
    const times = [result?.startedAt, result?.completedAt].map((time) => Date.parse(time ?? ""));
    expect(result?.durationMs).toBe((times[1] ?? NaN) - (times[0] ?? NaN));
  });

  it("in a branch has the path of its place, and the branch that was taken is the output (D26)", async () => {
    const steps = [
      {
        id: "size",
        type: "condition",
        name: "size",
        config: {
          branches: [
            {
              id: "big",
              when: { left: "{{input.n}}", operator: "greater_than", right: 10 },
              steps: [transform("shout", "BIG")],
            },
          ],
          else: [
            {
              id: "sign",
              type: "condition",
              name: "sign",
              config: {
                if: { left: "{{input.n}}", operator: "less_than", right: 0 },
                // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
                then: [transform("minus", "negative")],
                else: [transform("plus", "small")],
              },
            },
          ],
        },
      },
      transform("out", [
        "{{steps.size.output.branch}}",
        "{{steps.shout.output}}",
        "{{steps.plus.output}}",
      ]),
    ];
    const id = await createActive(system, { steps });
    const big = await runToEnd(system, id, { n: 11 });
    expect(big.output).toEqual(["big", "BIG", null]);
    expect(new Set(big.stepResults.map(({ path }) => path))).toEqual(
      new Set(["size", "size.big.shout", "out"]),
    );
    const small = await runToEnd(system, id, { n: 1 });
    expect(small.output).toEqual(["else", null, "small"]);
    expect(resultOf(small, "size.else.sign.else.plus")).toMatchObject({ stepId: "plus" });
    expect(resultOf(small, "size.else.sign")).toMatchObject({ output: { branch: "else" } });
    const negative = await runToEnd(system, id, { n: -1 });
    expect(resultOf(negative, "size.else.sign.then.minus")).toMatchObject({ output: "negative" });
  });

  it("that its condition leaves out is skipped, and the run's output is the last one's that ran", async () => {
    const ended = await run([
      transform("first", "kept"),
      { ...transform("second", "dropped"), when: { left: 1, operator: "equals", right: 2 } },
    ]);
    expect(ended).toMatchObject({ status: "completed", output: "kept" });
    expect(resultOf(ended, "second")).toMatchObject({
      status: "skipped",
      output: null,
      error: null,
    });
  });

  it("that failed ends the run, and nothing after it begins", async () => {
    const ended = await run([transform("before", 1), failing("call"), transform("after", 2)]);
    expect(ended).toMatchObject({ status: "failed", output: null });
    expect(ended.stepResults.map(({ stepId, status }) => [stepId, status])).toEqual([
      ["before", "success"],
      ["call", "error"],
    ]);
  });

  it("that failed with onError continue is followed by the next step (D16)", async () => {
    const ended = await run([
      { ...failing("call"), onError: "continue" },
      transform("after", { failed: "{{steps.call.output}}" }),
    ]);
    expect(ended).toMatchObject({ status: "completed", output: { failed: null }, error: null });
    expect(resultOf(ended, "call")).toMatchObject({
      status: "error",
      error: { code: "CONNECT_FAILED" },
    });
  });
});

describe("a step that asks another host", () => {
  it("sends what it resolved and returns status, headers and body (D17)", async () => {
    const ended = await run(
      [
        request("ask", "/echo", {
          config: {
            body: { n: "{{input.n}}" },
            query: { q: "ä b" },
            headers: { "x-n": "{{input.n}}" },
          },
        }),
      ],
      { n: 7 },
    );
    expect(ended.output).toMatchObject({
      status: 200,
      headers: { "x-answer": "yes" },
      body: { echo: '{"n":7}' },
    });
    const sent = outside.requests.find(({ path }) => path.startsWith("/echo"));
    expect(sent).toMatchObject({ method: "POST", path: "/echo?q=%C3%A4+b" });
    expect(sent?.headers).toMatchObject({ "x-n": "7", "content-type": "application/json" });
    expect(sent?.idempotencyKey).toContain(ended.id);
  });

  it("fails when the status is not a successful one", async () => {
    const ended = await run([request("ask", "/missing")]);
    expect(ended.error).toMatchObject({ code: "HTTP_STATUS", details: { status: 404 } });
  });

  it("tries again by its policy, and shows every earlier attempt (D26)", async () => {
    const ended = await run([
      request("ask", "/second-time", { retry: { maxAttempts: 3, backoff: "fixed", delayMs: 10 } }),
    ]);
    expect(ended.status).toBe("completed");
    expect(resultOf(ended, "ask")).toMatchObject({
      status: "success",
      attempt: 2,
      error: null,
      previousAttempts: [{ attempt: 1, error: { code: "HTTP_STATUS", details: { status: 503 } } }],
    });
    expect(ended.stepResults).toHaveLength(1);
  });

  it("gives up after the last attempt", async () => {
    const retry = { maxAttempts: 3, backoff: "fixed", delayMs: 5 };
    const ended = await run([{ ...failing("call"), retry }]);
    expect(ended.status).toBe("failed");
    expect(resultOf(ended, "call")).toMatchObject({ status: "error", attempt: 3 });
    expect(resultOf(ended, "call")?.previousAttempts).toHaveLength(2);
  });

  it("takes the workflow's policy when it has none (D15)", async () => {
    const settings = { retry: { maxAttempts: 2, backoff: "fixed", delayMs: 5 } };
    const ended = await run([request("ask", "/second-time-by-settings")], {}, { settings });
    expect(resultOf(ended, "ask")).toMatchObject({ status: "success", attempt: 2 });
  });

  it("is given up when its own time is over (D16)", async () => {
    const ended = await run([request("ask", "/stall", { timeoutMs: 100 })]);
    expect(ended).toMatchObject({ status: "failed" });
    expect(resultOf(ended, "ask")?.status).toBe("error");
  });
});

describe("a run", () => {
  it("whose time is up has the status timeout (D28)", async () => {
    const ended = await run([request("ask", "/stall")], {}, { settings: { timeoutMs: 100 } });
    expect(ended).toMatchObject({
      status: "timeout",
      error: { code: "RUN_TIMEOUT" },
      output: null,
    });
  });

  it("does not lose time while it is delayed (D28)", async () => {
    const ended = await run(
      [delay("nap", 600), transform("out", 1)],
      {},
      { settings: { timeoutMs: 300 } },
    );
    expect(ended).toMatchObject({ status: "completed", output: 1 });
  });

  it("is suspended in a delay of more than five seconds, and running in a shorter one (D17)", async () => {
    const long = await startRun(system, await createActive(system, { steps: [delay("s", 5_001)] }));
    const short = await startRun(system, await createActive(system, { steps: [delay("s", 700)] }));
    await waitForRun(system, short, ["running"]);
    await waitForRun(system, long, ["suspended"]);
    const ended = await waitForRun(system, short);
    expect(ended.output).toEqual({ resumedAt: expect.any(String) });
    await system.call("POST", `/runs/${long}/cancel`);
  });

  it("whose output does not fit the outputSchema failed (D17)", async () => {
    const ended = await run([transform("out", "text")], {}, { outputSchema: { type: "number" } });
    expect(ended).toMatchObject({ status: "failed", error: { code: "OUTPUT_INVALID" } });
  });

  it("of many steps does them in order", async () => {
    const steps = [transform("s0", 0)];
    for (let n = 1; n < 30; n += 1) steps.push(transform(`s${n}`, [`{{steps.s${n - 1}.output}}`]));
    const ended = await run(steps);
    expect(ended.stepResults.map(({ stepId }) => stepId)).toEqual(
      Array.from({ length: 30 }, (_, n) => `s${n}`),
    );
  });
});
