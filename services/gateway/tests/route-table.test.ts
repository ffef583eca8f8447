import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { WORKFLOW_ID } from "./support/messages.ts";

const errorBody = z.object({ error: z.object({ message: z.string() }) });

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.close());

const messageOf = async (method: string, path: string): Promise<[number, string]> => {
  const { status, body } = await call(test, method, `/api/v1${path}`);
  return [status, errorBody.parse(body).error.message];
};

describe("the path of a request", () => {
  it.each([
    [`/workflows/${WORKFLOW_ID}`, "Workflow not found"],
    [`/workflows/${WORKFLOW_ID}/`, "Workflow not found"],
    // Percent-encoded, the id is the same.
    [`/workflows/%30${WORKFLOW_ID.slice(1)}`, "Workflow not found"],
    ["/workflows/%2F", "Workflow not found"],
  ])("%s names a workflow", async (path, message) => {
    expect(await messageOf("GET", path)).toEqual([404, message]);
  });

  it.each([
    "",
    "/",
    "//workflows",
    "/workflows//",
    `/workflows//${WORKFLOW_ID}`,
    `/Workflows/${WORKFLOW_ID}`,
    `/%77orkflows/${WORKFLOW_ID}`,
    `/workflows/${WORKFLOW_ID}/nothing`,
    "/workflows/__proto__/constructor",
    "/constructor",
    "/__proto__",
  ])("%s names nothing", async (path) => {
    expect(await messageOf("GET", path)).toEqual([404, "Route not found"]);
  });

  it("takes a fixed segment before a parameter in its place", async () => {
    // PATCH is a method of /tables/{id}, not of /tables/import.
    const [status, message] = await messageOf("PATCH", "/tables/import");
    expect(status).toBe(405);
    expect(message).toContain("POST");
    expect(message).not.toContain("PATCH");
  });

  it("must be percent-encoded UTF-8", async () => {
    expect((await messageOf("GET", "/workflows/%E0%A4%A"))[0]).toBe(400);
  });
});
