import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { validateDefinition } from "@workflow/definition";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { httpStep, startRunsHarness } from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;

beforeAll(async () => {
  harness = await startRunsHarness();
  receiver = await startHttpDouble(() => ({ status: 200 }));
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

/** An input of `http.request`, a value, and the wrong path below the input; null: it is valid. */
const VALUES: readonly (readonly [key: string, value: unknown, wrong: string | null])[] = [
  ["successStatuses", null, null],
  ["successStatuses", ["2xx", 409], null],
  ["successStatuses", [], ""],
  ["successStatuses", ["6xx"], ".0"],
  ["successStatuses", [200, 600], ".1"],
  ["successStatuses", "2xx", ""],
  ["timeoutMs", null, null],
  ["timeoutMs", 600_000, null],
  ["timeoutMs", 600_001, ""],
  ["timeoutMs", 0, ""],
  ["followRedirects", null, null],
  ["followRedirects", 11, ""],
  ["followRedirects", 1.5, ""],
  ["headers", null, null],
  ["headers", { "x-a": null, "x-b": 1 }, null],
  ["headers", { "x-a": [] }, ".x-a"],
  ["query", null, null],
  ["query", { a: [1, null] }, null],
  ["query", { a: {} }, ".a"],
  ["auth", null, null],
  ["auth", { type: "none" }, null],
  ["auth", { type: "bearer", token: "t" }, null],
  ["auth", { type: "bearer", token: "" }, ".token"],
  ["auth", { type: "bearer" }, ".token"],
  ["auth", { type: "basic", username: "u" }, ".password"],
  ["auth", { type: "digest" }, ".type"],
  ["method", "POST", null],
  ["method", "BREW", ""],
  ["method", null, ""],
];

const wholeStep = (config: object) =>
  httpStep("call", `${receiver.url}/`, { method: "GET", ...config });

describe("an input of a request is good or bad in the workflow as it is from a template", () => {
  it.each(VALUES)("%s: %j", async (key, value, wrong) => {
    const saved = validateDefinition(
      { trigger: { type: "api" }, steps: [wholeStep({ [key]: value })] },
      { expressions: new Map() },
    );
    const places = saved.ok ? [] : saved.violations.map(({ path }) => path.join("."));
    expect(places).toEqual(wrong === null ? [] : [`steps.0.config.${key}${wrong}`]);
    const workflowId = await harness.deploy([wholeStep({ [key]: "{{input.value}}" })]);
    const run = await harness.runToEnd(workflowId, { value });
    if (wrong === null) {
      expect(run).toMatchObject({ status: RunStatus.COMPLETED });
      return;
    }
    expect(run).toMatchObject({ status: RunStatus.FAILED, error: { code: "INVALID_INPUT" } });
    expect(run.error?.message).toContain(`${key}${wrong}: `);
  });
});
