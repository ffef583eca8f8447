import { describe, expect, it } from "@jest/globals";
import {
  actionStep,
  forEachStep,
  httpStep,
  loopStep,
  mappingStep,
  step,
  stepProblems,
} from "./definition.ts";

/** A template inside a longer string makes a string, whatever its value (D19). */
const inside = [mappingStep("in", 1)];
const request = (config: object) =>
  httpStep("s", { config: { method: "GET", url: "https://x.example", ...config } });

const PLACES: [string, string, (value: string) => object][] = [
  ["a loop's items", "items", (items) => loopStep("s", inside, { items })],
  ["a loop's count", "count", (count) => loopStep("s", inside, { count })],
  ["forEach", "forEach", (forEach) => forEachStep("s", inside, forEach)],
  ["headers", "headers", (headers) => request({ headers })],
  ["a timeout", "timeoutMs", (timeoutMs) => request({ timeoutMs })],
  ["statuses", "successStatuses", (successStatuses) => request({ successStatuses })],
  ["a delay", "durationMs", (durationMs) => step("delay", "s", { durationMs })],
  ["a row", "data", (data) => actionStep("s", "table.insert", { tableId: "t", data })],
  ["an agent's input", "input", (input) => step("agent", "s", { agentId: "a", input })],
];

describe("where a string won't do", () => {
  it.each(PLACES)("one template alone is taken: %s", (_what, _field, make) => {
    for (const text of ["{{input.x}}", "{{ input.x }}", '{{input["a b"][0]}}']) {
      expect(stepProblems(make(text))).toEqual([]);
    }
  });

  it.each(PLACES)("a template with anything beside it is refused: %s", (_what, field, make) => {
    const texts = ["a{{input.x}}", "1{{input.x}}", " {{input.x}} ", "{{input.x}}{{input.y}}"];
    for (const text of [...texts, String.raw`\{{input.x}}`]) {
      const found = stepProblems(make(text));
      expect(found).toEqual([expect.stringContaining(`steps.0.config.${field}: must be `)]);
      expect(found[0]).toContain("nothing beside it");
    }
  });

  it.each(PLACES)("what is wrong with a template is told as such: %s", (_what, field, make) => {
    expect(stepProblems(make("x{{nope.x}}"))).toEqual([
      expect.stringContaining(`steps.0.config.${field}: The template {{nope.x}} is not valid`),
    ]);
  });
});

describe("where a string of a certain form is wanted", () => {
  it("templates may make up a part of it", () => {
    expect(stepProblems(request({ method: "P{{input.rest}}" }))).toEqual([]);
    expect(stepProblems(request({ successStatuses: ["{{input.class}}xx", 204] }))).toEqual([]);
  });
});
