import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { OPERATIONS } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { waitFor } from "@workflow/testkit";
import { canvasState } from "../support/canvas.ts";
import { readDescription } from "../support/description/description.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { createLiveRequests, pathOf } from "../support/live-requests.ts";
import type { LiveRequest } from "../support/live-requests.ts";
import { createInStatus, createWorkflow, getWorkflow } from "../support/scenarios.ts";

const { operations } = await readDescription();
const singleReads = operations.filter(({ responses }) => responses.has("304"));

let system: DrivenSystem;
let requestFor: (route: Route) => Promise<LiveRequest>;
beforeAll(async () => {
  system = await startDrivenSystem();
  requestFor = createLiveRequests(system);
});
afterAll(() => system.stop());

async function etagOf(id: string): Promise<string> {
  const { headers } = await system.call("GET", `/workflows/${id}`);
  const etag = headers.get("etag") ?? "";
  expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
  return etag;
}

const put = (id: string, ifMatch: string, body: unknown = { name: "Renamed" }) =>
  system.call("PUT", `/workflows/${id}`, { body, headers: { "if-match": ifMatch } });

describe("ETag of a workflow", () => {
  it("is told by GET, HEAD, POST and PUT, and stays while nothing changes", async () => {
    const created = await system.call("POST", "/workflows", {
      body: { name: "Tagged", trigger: { type: "api" }, steps: [] },
    });
    const id = String(Object(created.data).id);
    const etag = await etagOf(id);
    expect(created.headers.get("etag")).toBe(etag);
    expect(await etagOf(id)).toBe(etag);
    const head = await system.call("HEAD", `/workflows/${id}`);
    expect(head.headers.get("etag")).toBe(etag);
    const updated = await system.call("PUT", `/workflows/${id}`, { body: { name: "Other" } });
    expect(updated.headers.get("etag")).toBe(await etagOf(id));
    expect(updated.headers.get("etag")).not.toBe(etag);
  });

  it("differs after every change that a reader can see", async () => {
    const { id } = await createWorkflow(system);
    const seen = new Set([await etagOf(id)]);
    const changes: [string, string, unknown?][] = [
      ["PUT", "", { description: "d" }],
      ["PATCH", "/canvas", { canvasState: canvasState() }],
      ["POST", "/activate"],
      ["PUT", "", { steps: [] }],
      ["POST", "/versions/1/rollback"],
      ["POST", "/pause"],
      ["POST", "/activate"],
      ["DELETE", ""],
    ];
    for (const [method, path, body] of changes) {
      const answer = await system.call(method, `/workflows/${id}${path}`, { body });
      expect(answer).toMatchObject({ status: 200 });
      seen.add(await etagOf(id));
    }
    expect(seen.size).toBe(changes.length + 1);
  });

  it("is told by activate and pause as it is afterwards", async () => {
    const { id } = await createWorkflow(system);
    for (const change of ["activate", "pause"]) {
      const { headers } = await system.call("POST", `/workflows/${id}/${change}`);
      expect(headers.get("etag")).toBe(await etagOf(id));
    }
  });

  it("of a draft that is deleted differs, too", async () => {
    const { id } = await createWorkflow(system);
    const before = await etagOf(id);
    await system.call("DELETE", `/workflows/${id}`);
    expect(await etagOf(id)).not.toBe(before);
  });
});

describe("If-Match", () => {
  it("lets an update through while the workflow is the one that was read", async () => {
    const { id } = await createWorkflow(system);
    const etag = await etagOf(id);
    for (const header of [etag, `"other", ${etag}`, "*", " * "]) {
      const answer = await put(id, header.replace(etag, await etagOf(id)));
      expect(answer).toMatchObject({ status: 200, data: { name: "Renamed" } });
    }
  });

  it("refuses it with 412 otherwise, and changes nothing", async () => {
    const workflow = await createWorkflow(system);
    const { id } = workflow;
    const etag = await etagOf(id);
    // A weak tag is never the same in a strong comparison (RFC 9110, section 13.1.1).
    for (const header of ['"other"', '"a", "b"', `W/${etag}`, '""']) {
      expect(await put(id, header)).toMatchObject({
        status: 412,
        error: { code: "PRECONDITION_FAILED" },
      });
    }
    expect(await getWorkflow(system, id)).toEqual(workflow);
    const canvas = await system.call("PATCH", `/workflows/${id}/canvas`, {
      body: { canvasState: canvasState() },
      headers: { "if-match": '"other"' },
    });
    expect(canvas).toMatchObject({ status: 412, error: { code: "PRECONDITION_FAILED" } });
    expect(await getWorkflow(system, id)).toEqual(workflow);
  });

  it("holds for DELETE too, and a repeated one stays fine (D21)", async () => {
    const workflow = await createWorkflow(system);
    const { id } = workflow;
    const archive = (ifMatch: string) =>
      system.call("DELETE", `/workflows/${id}`, { headers: { "if-match": ifMatch } });
    expect(await archive('"other"')).toMatchObject({
      status: 412,
      error: { code: "PRECONDITION_FAILED" },
    });
    expect(await getWorkflow(system, id)).toEqual(workflow);
    const etag = await etagOf(id);
    for (let time = 0; time < 2; time += 1) expect((await archive(etag)).status).toBe(200);
    expect(await archive("abc")).toMatchObject({
      status: 400,
      error: { details: [{ path: ["If-Match"] }] },
    });
  });

  it.each(["abc", "", ",", '"open', '"a" b'])(
    "is 400 when it is no list of tags: %j",
    async (header) => {
      const { id } = await createWorkflow(system);
      expect(await put(id, header)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [{ path: ["If-Match"] }] },
      });
    },
  );

  it("does not turn an unknown or archived workflow into something else", async () => {
    const unknown = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
    expect((await put(unknown, "*")).status).toBe(404);
    expect((await put(unknown, '"x"')).status).toBe(404);
    const id = await createInStatus(system, "archived");
    expect((await put(id, await etagOf(id))).status).toBe(400);
    expect((await put(id, '"x"')).status).toBe(400);
  });

  it("lets exactly one of many through that have read the same", async () => {
    const { id } = await createWorkflow(system);
    const etag = await etagOf(id);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => put(id, etag, { name: `Writer ${n}` })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await getWorkflow(system, id)).name).toBe(`Writer ${winner}`);
  });
});

describe("If-None-Match", () => {
  const read = (id: string, ifNoneMatch: string, method = "GET") =>
    fetch(`${system.origin}/api/v1/workflows/${id}`, {
      method,
      headers: { "x-api-key": system.acme.key, "if-none-match": ifNoneMatch },
    });

  it("is answered with 304 and no body while the workflow is the same", async () => {
    const { id } = await createWorkflow(system);
    const etag = await etagOf(id);
    for (const header of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await read(id, header, method);
        expect(response.status).toBe(304);
        expect(await response.text()).toBe("");
        expect(response.headers.get("etag")).toBe(etag);
        expect(response.headers.get("link")).toContain("api-catalog");
        expect(response.headers.get("x-request-id")).not.toBeNull();
      }
    }
  });

  it("is answered in full otherwise", async () => {
    const { id } = await createWorkflow(system);
    for (const header of ['"other"', "abc", ""]) {
      const response = await read(id, header);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ success: true, data: { id } });
    }
  });

  it.each(singleReads)(
    "is answered with 304 to the tag that $name tells, and in full to another",
    async ({ operationId }) => {
      const route = OPERATIONS[operationId];
      if (route === undefined) throw new Error("No route of the table is called so.");
      const { params, headers } = await requestFor(route);
      const get = (more: Readonly<Record<string, string>> = {}) =>
        fetch(`${system.origin}/api/v1${pathOf(route, params)}`, {
          headers: { ...headers, ...more },
        });
      // What is read may change once more on its own: an execution ends, a delivery is tried.
      await waitFor(async () => {
        const first = await get();
        await first.text();
        const etag = first.headers.get("etag") ?? "";
        expect(etag).toMatch(/^(?:W\/)?"[^"]+"$/);
        const again = await get({ "if-none-match": etag });
        expect([again.status, await again.text()]).toEqual([304, ""]);
      });
      const other = await get({ "if-none-match": '"other"' });
      expect(other.status).toBe(200);
      expect(await other.json()).toMatchObject({ success: true });
    },
  );
});
