import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createWorkflow, workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let workflowId: string;
let tableId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  workflowId = (await createWorkflow(system)).id;
  const columns = [{ id: "n", name: "N", type: "number" }];
  tableId = String((await create("/tables", { name: "T", columns }))["id"]);
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

async function create(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await system.call("POST", path, { body });
  expect(answer.status).toBe(201);
  return answer.data;
}
