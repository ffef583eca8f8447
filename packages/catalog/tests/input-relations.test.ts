import { describe, expect, it } from "@jest/globals";
import { checkInputs, choice, findMissingInputs, text } from "../src/index.ts";
import type { ActionManifest } from "../src/index.ts";

const isText = { field: "format", value: "text" } as const;
const action: ActionManifest = {
  name: "send",
  title: "Send",
  description: "",
  docs: "https://example.test",
  inputs: [
    choice("format", ["text", "plain"]),
    text("plain", { requiredWithout: ["html", "template"], notWith: ["template"] }),
    text("html", { notWith: ["template"], visibleWhen: isText }),
    text("template"),
    text("values", { onlyWith: "template" }),
  ],
  outputs: [],
  request: { method: "POST", path: "/" },
  example: {},
};

const problems = (inputs: Record<string, unknown>) =>
  checkInputs(action, inputs).map(({ path, message }) => `${path.join(".")}: ${message}`);

describe("inputs that have to do with others", () => {
  const isMissing = "plain: is required, since html and template are not given";

  it("are needed when none of the others is given", () => {
    expect(problems({ plain: "p" })).toEqual([]);
    expect(problems({ template: "t" })).toEqual([]);
    expect(problems({ format: "text", html: "h" })).toEqual([]);
    expect(problems({ format: "text" })).toEqual([isMissing]);
    expect(problems({ plain: null, html: "", template: null })).toEqual([isMissing]);
  });

  it("don't count while their fields do not apply", () => {
    expect(problems({ format: "plain", html: "h" })).toEqual([isMissing]);
    expect(problems({ format: "plain", html: "h", template: "t" })).toEqual([]);
  });

  it("are refused beside those that exclude them", () => {
    expect(problems({ format: "text", plain: "p", html: "h", template: "t" })).toEqual([
      "plain: must not be given together with template",
      "html: must not be given together with template",
    ]);
  });

  it("are refused without the one that they belong to", () => {
    expect(problems({ plain: "p", values: "v" })).toEqual([
      "values: must only be given together with template",
    ]);
    expect(problems({ template: "t", values: "v" })).toEqual([]);
  });

  it("are left alone where a template decides, which may come to nothing", () => {
    const isTemplate = (value: unknown): boolean => value === "{{x}}";
    for (const inputs of [
      { template: "{{x}}" },
      { plain: "{{x}}", template: "t" },
      { plain: "p", template: "{{x}}", values: "v" },
      { format: "{{x}}", html: "h", template: "t" },
    ]) {
      expect(findMissingInputs(action, inputs, isTemplate)).toEqual([]);
    }
  });
});
