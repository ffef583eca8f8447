import { readFile, writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { answerObjects } from "@workflow/service-gateway/answer-objects";
import { createOpenApiDocument } from "@workflow/service-gateway/openapi";
import { OPERATIONS } from "@workflow/service-gateway/routes";
import { EVENT_TYPES } from "@workflow/service-webhooks/event-types";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { Description, DESCRIPTION_FILE, readExamples } from "../support/description/description.ts";
import { collectExamples } from "../support/description/examples.ts";

/** As it is made, in the form in which it lies in the sources. */
let text: string;
let description: Description;

beforeAll(async () => {
  const examples = await readExamples();
  const made = createOpenApiDocument({ operations: OPERATIONS, eventTypes: EVENT_TYPES, examples });
  text = `${JSON.stringify(made, null, 2)}\n`;
  description = new Description(made);
});

describe("the description of the API", () => {
  it("is the file that the gateway serves", async () => {
    // `UPDATE_OPENAPI=1 npm test -- tests/contract/openapi` renews the file after a change.
    if (process.env["UPDATE_OPENAPI"] === "1") await writeFile(DESCRIPTION_FILE, text);
    // Without a difference of a megabyte for people to read.
    expect((await readFile(DESCRIPTION_FILE, "utf8")) === text).toBe(true);
  });

  it("passes the recommended rules of a linter", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: text, config });
    const told = problems.map(({ ruleId, message, location }) => ({
      ruleId,
      message,
      at: location[0]?.pointer,
    }));
    expect(told).toEqual([]);
  });

  it("has every route of the table, each once", () => {
    const routes = Object.entries(OPERATIONS).map(
      ([id, { method, path }]) => `${id} ${method} ${path}`,
    );
    const described = description.operations.map(
      ({ operationId, name }) => `${operationId} ${name}`,
    );
    expect(described).toEqual(expect.arrayContaining(routes));
    const beside = described
      .filter((each) => !routes.includes(each))
      .map((each) => each.split(" ")[0]);
    expect(beside.every((id) => /^(is|receive)[A-Z]/.test(id ?? ""))).toBe(true);
  });

  it("has examples that are as their schemas say", () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema(description.document, "description");
    const examples = collectExamples(description.document);
    expect(examples.length).toBeGreaterThan(250);
    const wrong = examples.flatMap(({ at, schema, value }) => {
      const validate = ajv.compile({ $ref: `description#${schema}` });
      return validate(value) ? [] : [{ at, value, errors: validate.errors }];
    });
    expect(wrong).toEqual([]);
  });

  it("says of each operation in a few words what it does, and in sentences what that means", () => {
    const told = description.operations.map(({ operationId, summary, description: words }) => ({
      operationId,
      isShort: summary.length <= 70 && /^[A-Z][^.;:]*[^.]$/.test(summary),
      // What follows the last empty line is the same for all of their kind.
      sentences:
        words
          .split("\n\n")
          .slice(0, -1)
          .join(" ")
          .split(/\.(?: |$)/).length - 1,
    }));
    expect(told.filter(({ isShort, sentences }) => !isShort || sentences < 1)).toEqual([]);
  });

  it("lets answers have members that are new", () => {
    const objects = answerObjects(description.document);
    expect(objects.length).toBeGreaterThan(100);
    expect(objects.filter(({ additionalProperties }) => additionalProperties === false)).toEqual(
      [],
    );
  });

  it("shows an example of every body", () => {
    expect(
      collectExamples(description.document).filter(({ value }) => value === undefined),
    ).toEqual([]);
  });
});
