import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "@jest/globals";
import {
  compileJsonSchema,
  describeActions,
  describeStep,
  describeStepTypes,
  validateDefinition,
} from "@workflow/definition";
import { ACTION_EXAMPLES, STEP_EXAMPLES } from "../support/step-examples.ts";
import { renderStepsPage } from "../support/steps-page.ts";

const PAGE = new URL("../../docs/steps.md", import.meta.url);

it("docs/steps.md tells what the schemas say", async () => {
  const page = await renderStepsPage();
  // `UPDATE_STEPS_DOC=1 npm test -- tests/contract/steps-doc` renews the page after a change.
  if (process.env["UPDATE_STEPS_DOC"] === "1") await writeFile(PAGE, page);
  expect(await readFile(PAGE, "utf8")).toBe(page);
});

describe("the example of", () => {
  it.each(describeStepTypes().map(({ type, configSchema }) => ({ type, configSchema })))(
    "the step type $type is valid, also by the published schema",
    ({ type, configSchema }) => {
      const step = STEP_EXAMPLES[type];
      expect(validateDefinition({ trigger: { type: "api" }, steps: [step] })).toMatchObject({
        ok: true,
      });
      expect(step).toMatchObject({ type });
      expect(violations(describeStep(), step)).toEqual([]);
      expect(violations(configSchema, configOf(step))).toEqual([]);
    },
  );

  it.each(describeActions().map(({ id, inputSchema }) => ({ id, inputSchema })))(
    "the action $id is valid, also by the published schema",
    ({ id, inputSchema }) => {
      const config = ACTION_EXAMPLES[id];
      const step = { id: "example", type: "action", name: "Example", action: id, config };
      expect(validateDefinition({ trigger: { type: "api" }, steps: [step] })).toMatchObject({
        ok: true,
      });
      expect(violations(inputSchema, config)).toEqual([]);
    },
  );

  it("nothing is shown that does not exist", () => {
    expect(Object.keys(STEP_EXAMPLES)).toEqual(describeStepTypes().map(({ type }) => type));
    expect(Object.keys(ACTION_EXAMPLES)).toEqual(describeActions().map(({ id }) => id));
  });
});

function violations(schema: unknown, value: unknown): unknown[] {
  const compiled = compileJsonSchema(schema);
  return compiled.ok ? compiled.validate(value) : compiled.violations;
}

function configOf(step: object | undefined): unknown {
  return step !== undefined && "config" in step ? step.config : undefined;
}
