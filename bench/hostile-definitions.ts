import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { compileCondition, evaluateCondition, planDefinition } from "@workflow/definition";
import { createExpressionPool } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import { createDefinitionChecker } from "../services/workflows/src/validation/definition-checker.ts";
import { readCircumstances } from "./machine.ts";

/*
 * The cost of definitions and expressions that are written to do harm, for the process that takes them. Run this
 * with `node --expose-gc bench/hostile-definitions.ts`; --write leaves a report.
 */

interface Result {
  name: string;
  outcome: string;
  wallMs: number;
  /** The longest turn of the event loop in processor time, which other programs do not change. */
  turnMs: number;
  /** The longest delay of the event loop, which other programs do change. */
  delayMs: number;
  heapMiB: number;
}

const results: Result[] = [];

async function measure(name: string, action: () => Promise<string>): Promise<void> {
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  let turnMs = 0;
  let last = threadCpuMs();
  let running = true;
  const lookAtTurn = (): void => {
    const now = threadCpuMs();
    turnMs = Math.max(turnMs, now - last);
    last = now;
    if (running) setImmediate(lookAtTurn);
  };
  setImmediate(lookAtTurn);
  const start = performance.now();
  const outcome = await action();
  const wallMs = performance.now() - start;
  await new Promise((resolve) => setImmediate(resolve));
  running = false;
  delay.disable();
  globalThis.gc?.();
  const heapMiB = (process.memoryUsage().heapUsed - heapBefore) / 1024 / 1024;
  const result = { name, outcome, wallMs, turnMs, delayMs: delay.max / 1e6, heapMiB };
  results.push(result);
  console.log(toRow(result));
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function toRow({ name, outcome, wallMs, turnMs, delayMs, heapMiB }: Result): string {
  const figures = [wallMs, turnMs, delayMs, heapMiB].map((figure) => figure.toFixed(1));
  return `| ${[name, outcome, ...figures].join(" | ")} |`;
}

let unique = 0;
const form = (fields: number, pattern: string): object => ({
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: fields }, (_, index) => [
      `p${index}`,
      { type: "string", ...(pattern === "" ? {} : { pattern: `${pattern}x${(unique += 1)}` }) },
    ]),
  ),
});
const approvals = (count: number, fields: number, pattern: string): object[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `a${index}`,
    type: "approval",
    name: "a",
    config: { message: "m", form: { title: `f${(unique += 1)}`, ...form(fields, pattern) } },
  }));
const transforms = (expressions: readonly string[]): object[] =>
  expressions.map((expression, index) => ({
    id: `t${index}`,
    type: "transform",
    name: "t",
    config: { expression },
  }));
/** JSONata parses these in quadratic time: 0.6 s each. */
const slowToParse = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `a${"@$a.b".repeat(3_260)}.c${index}`);
const ENDLESS = "($f := function($n) { $f($n + 1) }; $f(0))";

async function measureAll(pool: ExpressionPool): Promise<void> {
  await measureDefinitions(pool);
  await measurePatterns();
  await measureExpressions(pool);
}

async function measureDefinitions(pool: ExpressionPool): Promise<void> {
  const checker = createDefinitionChecker(pool);
  /** A check whose texts exist before anything is measured. */
  const check = (steps: object[], schema?: object): (() => Promise<string>) => {
    const stepsJson = JSON.stringify(steps);
    const inputSchemaJson = schema === undefined ? null : JSON.stringify(schema);
    return async () => {
      const [first] = await checker.check({
        companyId: "hostile",
        mayBeUnfinished: false,
        content: {
          triggerJson: '{"type":"api"}',
          stepsJson,
          inputSchemaJson,
          outputSchemaJson: null,
          settingsJson: null,
        },
      });
      return first === undefined ? "valid" : `refused at ${first.path.join(".")}`;
    };
  };

  await check(approvals(3, 3, "[a-z]+"), form(30, ""))();
  await measure("560 forms of 45 patterns", check(approvals(560, 45, "[a-z]{1000}")));
  await measure("500 forms of 10 fields", check(approvals(500, 10, "")));
  await measure("180 forms of 10 fields", check(approvals(180, 10, "")));
  await measure(
    "a form with as many patterns as there may be",
    check(approvals(1, 9, "[a-z]{1000}")),
  );
  await measure("a schema of 990 parts", check([], form(988, "")));
  await measure("a schema of 400 parts", check([], form(398, "")));
  const large = slowToParse(63);
  await measure("63 expressions of 16 KB", check(transforms(large)));
  await measure("16 expressions of 16 KB", check(transforms(large.slice(0, 16))));
}

async function measurePatterns(): Promise<void> {
  const many = Array.from({ length: 500 }, (_, index) => ({
    left: "text",
    operator: "matches",
    right: `{{input.patterns[${index}]}}`,
  }));
  const patterns = many.map((_, index) => `[a-z]{1000}y${index}`);
  const steps = many.map((when, index) => ({
    id: `m${index}`,
    type: "transform",
    name: "m",
    when,
    config: { mapping: 1 },
  }));
  await measure("a plan with 500 patterns from its input", async () => {
    const options = { violations: [], workflowId: "w", version: 1, now: new Date() };
    const definition = { trigger: { type: "api" }, steps };
    const { valid } = planDefinition(definition, { ...options, input: { patterns } });
    return valid ? "valid" : "refused";
  });
  await measure("500 conditions with a pattern each from the input", async () => {
    let failed = 0;
    for (const when of many) {
      try {
        evaluateCondition(compileCondition(when), {
          input: { patterns },
          run: {},
          trigger: {},
          steps: new Map(),
          secrets: new Map(),
        });
      } catch {
        failed += 1;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    return `${failed} failed`;
  });
}

async function measureExpressions(pool: ExpressionPool): Promise<void> {
  await measure("100 expressions of 16 KB, then another company's", async () => {
    const texts = Array.from({ length: 100 }, (_, index) => `${"a?b:".repeat(4_090)}${index}`);
    const outcomes = await Promise.allSettled(
      texts.map((text) => pool.evaluate("hostile", text, "{}")),
    );
    const failed = outcomes.filter(({ status }) => status === "rejected").length;
    const start = performance.now();
    const other = await pool.evaluate("other", "$count([1..100000])", "{}");
    return `${failed} failed; ${other} after ${(performance.now() - start).toFixed(0)} ms`;
  });
  await measure("another company's beside 30 endless ones", async () => {
    const hostile = Promise.allSettled(
      Array.from({ length: 30 }, () => pool.evaluate("hostile", ENDLESS, "{}")),
    );
    const start = performance.now();
    const other = await pool.evaluate("other", "1 + 1", "{}");
    const waitedMs = performance.now() - start;
    await hostile;
    return `${other} after ${waitedMs.toFixed(0)} ms`;
  });
}

const { commit, cpu, cores, node, loadBefore } = await readCircumstances();
const pool = createExpressionPool();
try {
  await measureAll(pool);
} finally {
  await pool.close();
}
if (process.argv.includes("--write")) {
  const folder = fileURLToPath(new URL("results/", import.meta.url));
  await mkdir(folder, { recursive: true });
  const date = new Date().toISOString().slice(0, 10);
  const lines = [
    `# Hostile definitions, ${date}`,
    "",
    `Commit ${commit}, ${cpu}, ${cores} cores, Node ${node}, load average before the start ${loadBefore.map((load) => load.toFixed(1)).join(", ")}.`,
    "",
    "Times in ms. The longest turn is processor time of the main thread, so other programs do not count in it; the longest delay is what the event loop was late by all causes. The heap is what stayed after a collection.",
    "",
    "| case | outcome | wall | longest turn | longest delay | heap MiB |",
    "| --- | --- | --- | --- | --- | --- |",
    ...results.map(toRow),
    "",
  ];
  await writeFile(`${folder}${date}-hostile-definitions.md`, lines.join("\n"));
}
