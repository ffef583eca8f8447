import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import { z } from "zod";
import {
  callWorkflow,
  expression,
  forEach,
  httpStep,
  mapping,
  outputOf,
  repeat,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const codeRow = z.object({ code: z.string().nullable() });

let harness: RunsHarness;
let receiver: Awaited<ReturnType<typeof startHttpDouble>>;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble((request, response) => {
    if (request.path === "/hangs") return;
    response.writeHead(200, { "content-type": "text/plain" });
    const block = Buffer.alloc(64 * 1024, "x");
    const pour = (): void => {
      while (!response.destroyed && response.write(block));
    };
    response.on("drain", pour);
    pour();
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

interface Hostile {
  what: string;
  code: string;
  input?: unknown;
  steps: () => unknown[];
  settings?: unknown;
}

const big = "x".repeat(200_000);

const HOSTILE: Hostile[] = [
  {
    what: "a receiver that never answers",
    code: "TIMEOUT",
    steps: () => [httpStep("h", `${receiver.url}/hangs`, {}, { timeoutMs: 700 })],
  },
  {
    what: "a receiver whose answer never ends",
    code: "RESPONSE_TOO_LARGE",
    steps: () => [httpStep("h", `${receiver.url}/pours`)],
  },
  {
    what: "a template that grows",
    code: "TEMPLATE_TOO_LARGE",
    input: { big },
    steps: () => [
      mapping(
        "m",
        Array.from({ length: 50 }, () => "{{input.big}}"),
      ),
    ],
  },
  {
    what: "a loop of a thousand millions",
    code: "LOOP_LIMIT",
    input: { n: 1_000_000_000 },
    steps: () => [repeat("l", { count: "{{input.n}}", maxIterations: 100_000 }, [mapping("m", 1)])],
  },
  {
    what: "loops in loops in loops",
    code: "RUN_TOO_LONG",
    steps: () => [
      repeat("a", { count: "{{input.n}}" }, [
        repeat("b", { count: "{{input.n}}" }, [
          repeat("c", { count: "{{input.n}}" }, [mapping("m", null)]),
        ]),
      ]),
    ],
    input: { n: 1_000 },
  },
  {
    what: "an expression that never ends",
    code: "EXPRESSION_TIMEOUT",
    steps: () => [expression("e", "($f := function($n) { $f($n + 1) }; $f(0))")],
  },
  {
    what: "very many items with very many requests",
    code: "RUN_TIMEOUT",
    steps: () => [
      forEach("p", "{{input.items}}", [httpStep("h", `${receiver.url}/hangs`)], {
        concurrency: 100,
      }),
    ],
    input: { items: Array.from({ length: 10_000 }, (_, index) => index) },
    settings: { timeoutMs: 1_500 },
  },
];

/**
 * The error code of a run that has ended. Reading it whole takes seconds where it has 50,000 step
 * results.
 */
async function codeOf(runId: string): Promise<string | null> {
  const { code } = await harness.database.one(sql.type(codeRow)`
    select error ->> 'code' as code from runs.runs where id = ${runId}
  `);
  return code;
}

describe("a hostile run", () => {
  it.each(HOSTILE)("with $what ends with $code, and others overtake it", async (hostile) => {
    const { steps, input, code, settings } = hostile;
    const canary = await harness.deploy([mapping("a", "{{input.n}}"), mapping("b", "fine")]);
    const workflowId = await harness.deploy(steps(), settings === undefined ? {} : { settings });
    const runId = await harness.start(workflowId, input);
    let ended = false;
    const status = code === "RUN_TIMEOUT" ? RunStatus.TIMEOUT : RunStatus.FAILED;
    // The run is not read for that, since it has up to 50,000 step results.
    const end = harness.waitForRun(workflowId, status).finally(() => (ended = true));
    const overtaking: boolean[] = [];
    for (let count = 0; count < 5; count++) {
      expect(outputOf(await harness.runToEnd(canary, { n: count }))).toBe("fine");
      overtaking.push(!ended);
    }
    await end;
    expect(await codeOf(runId)).toBe(code);
    // Cases that end at once need not be overtaken.
    if (!["RESPONSE_TOO_LARGE", "TEMPLATE_TOO_LARGE", "LOOP_LIMIT"].includes(code)) {
      expect(overtaking[0]).toBe(true);
    }
  });

  it("that calls itself from two sides at once stays within the depth", async () => {
    const workflowId = newUuid();
    await harness.deploy(
      [
        callWorkflow("again", workflowId, { input: { n: 1 } }, { onError: "continue" }),
        mapping("end", "{{steps.again.error.code}}"),
      ],
      { workflowId },
    );
    const run = await harness.runToEnd(workflowId);
    expect(run.error).toBeUndefined();
    expect(outputOf(run) ?? null).toBe(null);
  });
});
