import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createActive, createWorkflow, workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const identified = z.looseObject({ id: z.string() });

let system: WholeSystem;
let workflowId: string;
let tableId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  workflowId = (await createWorkflow(system)).id;
  const columns = [{ id: "n", name: "N", type: "number" }];
  const table = await system.call("POST", "/tables", { body: { name: "T", columns } });
  tableId = identified.parse(table.data).id;
});
afterAll(() => system.stop());

const CANVAS = { blocks: {}, edges: [], loops: {}, parallels: {} };
const WORKFLOW = "The workflow definition is not valid at";
const REQUEST = "The request is not valid:";

/** Places as `{workflow}` and `{table}` stand for the ids of the objects above. */
const REFUSALS: [string, string, object | undefined, string][] = [
  [
    "GET",
    "/runs?limit=5&limit=6",
    undefined,
    "The query string is not valid: limit must be given once.",
  ],
  ["POST", "/table-folders", { name: "  " }, `${REQUEST} name must have 1 to 255 characters.`],
  [
    "POST",
    "/tables",
    { name: "T", columns: [{ name: "S", type: "select" }] },
    `${REQUEST} columns.0.options must hold at least one option for a column of type select.`,
  ],
  [
    "POST",
    "/tables/{table}/rows/query",
    { filter: { ghost: { values: [] } } },
    `${REQUEST} filter.ghost is no column that the table declares.`,
  ],
  [
    "POST",
    "/tables/{table}/rows/query",
    { sort: "ghost" },
    `${REQUEST} sort must be the id of a column that the table declares.`,
  ],
  [
    "POST",
    "/tables/{table}/aggregate",
    { measures: [{ fn: "sum", column: "ghost" }] },
    `${REQUEST} measures.0.column must be the id of a column that the table declares.`,
  ],
  [
    "PATCH",
    "/workflows/{workflow}/canvas",
    { canvasState: { ...CANVAS, edges: {} } },
    `${REQUEST} canvasState.edges must be an array.`,
  ],
  [
    "PATCH",
    "/workflows/{workflow}/canvas",
    { canvasState: CANVAS, triggerConfig: { type: "webhook" } },
    `${WORKFLOW} triggerConfig.path: is required and must be a string.`,
  ],
  [
    "POST",
    "/workflows",
    workflowBody({ trigger: { type: "schedule", cron: "61 * * * *" } }),
    `${WORKFLOW} trigger.cron: must not have "61" as its minute field: use *, a number from 0 to 59, a range like 1-5, a step like */2, or a list of these.`,
  ],
  [
    "POST",
    "/webhook-endpoints",
    { name: "E", url: "https://example.com", headers: [] },
    `${REQUEST} headers must be an object.`,
  ],
];

describe("the message of a refusal", () => {
  it.each(REFUSALS)("%s %s with %j names the field", async (method, path, body, message) => {
    const answer = await system.call(
      method,
      path.replace("{workflow}", workflowId).replace("{table}", tableId),
      body === undefined ? {} : { body },
    );
    expect(answer).toMatchObject({ status: 400, error: { message } });
  });

  it("shows as much of a long key as one can read, and the end of the sentence", async () => {
    const key = "k".repeat(1_500);
    const answer = await system.call("POST", `/tables/${tableId}/rows/query`, {
      body: { filter: { [key]: { values: [] } } },
    });
    expect(answer.error).toMatchObject({
      message: `${REQUEST} filter.${"k".repeat(80)}… is no column that the table declares.`,
      details: [{ path: ["filter", key], message: "is no column that the table declares" }],
    });
  });
});

describe("the details of an input that does not fit its schema", () => {
  it("are worded as the other messages of the API", async () => {
    const properties = {
      age: { type: "integer" },
      name: { type: "string", minLength: 1 },
      code: { type: "string", maxLength: 3 },
      rate: { type: "number", minimum: 0, multipleOf: 0.5 },
      left: { type: "number", exclusiveMaximum: 10 },
      tags: { type: "array", maxItems: 2 },
      more: { type: "object", minProperties: 2 },
      kind: { type: ["boolean", "null"], not: { const: null } },
    };
    const inputSchema = { type: "object", properties };
    const id = await createActive(system, { inputSchema });
    const input = { age: "5", name: "", code: "long", rate: -0.7, left: 10, tags: [1, 2, 3] };
    const answer = await system.call("POST", `/workflows/${id}/run`, {
      body: { input: { ...input, more: { a: 1 }, kind: null } },
    });
    expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    expect(answer.error?.details).toEqual(
      expect.arrayContaining([
        { path: ["age"], message: "must be an integer" },
        { path: ["name"], message: "must have at least 1 character" },
        { path: ["code"], message: "must have at most 3 characters" },
        { path: ["rate"], message: "must be at least 0" },
        { path: ["rate"], message: "must be a multiple of 0.5" },
        { path: ["left"], message: "must be less than 10" },
        { path: ["tags"], message: "must have at most 2 items" },
        { path: ["more"], message: "must have at least 2 properties" },
        { path: ["kind"], message: "must not match the schema in not" },
      ]),
    );
  });
});
