import { describe, expect, it } from "@jest/globals";
import {
  callAction,
  checkInputs,
  choice,
  findMissingInputs,
  findUselessInputs,
  flag,
  list,
  text,
} from "../src/index.ts";
import type { ActionManifest, ProviderManifest, ProviderRequest } from "../src/index.ts";

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
    flag("strict", { onlyWith: "template" }),
  ],
  outputs: [],
  request: { method: "POST", path: "/" },
  example: {},
};

const problems = (inputs: Record<string, unknown>) =>
  checkInputs(action, inputs).map(({ path, message }) => `${path.join(".")}: ${message}`);

const isTemplate = (value: unknown): boolean => value === "{{x}}";

const provider: ProviderManifest = {
  id: "p",
  name: "P",
  description: "",
  category: "c",
  docs: "https://example.test",
  baseUrl: "https://example.test",
  auth: { kind: "apiKey", fields: [] },
  sign: {},
  errors: { code: [], message: [] },
  actions: [],
};

/** The body that is sent. */
async function bodyOf(called: ActionManifest, inputs: Record<string, unknown>): Promise<unknown> {
  const sent: ProviderRequest[] = [];
  const call = { inputs, access: { fields: {}, credentials: {} } };
  await callAction({ provider, action: called }, call, (request) => {
    sent.push(request);
    return Promise.resolve({ status: 200, headers: {}, body: null });
  });
  return JSON.parse(sent[0]?.body ?? "null");
}

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

  it("are refused in a definition without the one that they belong to, where they ask for something", () => {
    const useless = (inputs: Record<string, unknown>) =>
      findUselessInputs(action, inputs, isTemplate).map(({ path, message }) => [...path, message]);
    const message = "must only be given together with template";
    expect(useless({ plain: "p", values: "v" })).toEqual([["values", message]]);
    expect(useless({ plain: "p", strict: true, template: null })).toEqual([["strict", message]]);
    for (const nothing of [
      { values: "", strict: false },
      { values: null, strict: null },
      { values: "{{x}}", strict: "{{x}}" },
      { values: "v", strict: true, template: "{{x}}" },
      { values: "v", strict: true, template: "t" },
    ]) {
      expect(useless({ plain: "p", ...nothing })).toEqual([]);
    }
  });

  it("are left out of a call without the one that they belong to, whatever they are", async () => {
    const inputs = { plain: "p", template: null, values: 7, strict: true };
    expect(problems(inputs)).toEqual([]);
    expect(await bodyOf(action, inputs)).toEqual({ plain: "p" });
    expect(problems({ template: "t", values: 7 })).toEqual([
      "values: must be a string, not a number",
    ]);
  });

  it("that are empty lists are none of several of which one is needed", async () => {
    const lists = {
      ...action,
      inputs: [
        list("add", { min: 1, requiredWithout: ["remove"] }),
        list("remove", { min: 1 }),
        list("keep", { min: 1 }),
        text("name", { requiredWithout: ["add"] }),
      ],
    };
    const wrong = (inputs: object) => checkInputs(lists, { ...inputs }).map(({ path }) => path[0]);
    expect(wrong({ add: [], remove: ["x"], name: "n" })).toEqual([]);
    expect(await bodyOf(lists, { add: [], remove: ["x"], name: "n" })).toEqual({
      remove: ["x"],
      name: "n",
    });
    expect(wrong({ add: ["x"], remove: [] })).toEqual([]);
    expect(wrong({ add: [], remove: [], name: "n" })).toEqual(["add"]);
    // A relation of another kind, or to no input.
    expect(wrong({ add: ["x"], name: [], keep: [] })).toEqual(["keep", "name"]);
  });

  it("are left alone where a template decides, which may come to nothing", () => {
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
