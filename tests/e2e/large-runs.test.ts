import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { z } from "zod";
import { createActive, getRun, runLogsSchema, runToEnd, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const MIB = 1024 * 1024;
const OUTPUT_BYTES = 3 * MIB;
/** Results of `OUTPUT_BYTES`, of which two fit into an answer. */
const STEPS = 20;

const stepsSchema = z.array(z.looseObject({ path: z.string(), truncated: z.boolean().optional() }));

let system: WholeSystem;
/** 60 MiB. */
let largeId: string;
let nestedId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  const large = Array.from({ length: STEPS }, (_, index) => transform(`s${index}`, index));
  largeId = (await runToEnd(system, await createActive(system, { steps: large }))).id;
  await system.database.query(sql.type(z.object({}))`
    update runs.step_results
    set output = to_json(repeat('x', ${OUTPUT_BYTES - 2})), output_bytes = ${OUTPUT_BYTES}
    where run_id = ${largeId}
  `);
  const config = { count: 3, steps: [transform("child", { n: "{{loop.index}}" })] };
  const nested = { id: "l", type: "loop", name: "l", config };
  nestedId = (await runToEnd(system, await createActive(system, { steps: [nested] }))).id;
});
afterAll(() => system.stop());

describe("GET /runs/{id} and /runs/{id}/logs of a run with 60 MiB", () => {
  it("show the first 8 MiB, and of later results their sizes", async () => {
    const run = await getRun(system, largeId);
    const logs = runLogsSchema.parse((await system.call("GET", `/runs/${largeId}/logs`)).data);
    expect(logs.logs).toEqual(run.stepResults);
    expect(run.stepResults).toHaveLength(STEPS);
    for (const [index, result] of run.stepResults.entries()) {
      const { output } = result;
      if (index < 2) {
        expect(typeof output === "string" ? output.length : 0).toBe(OUTPUT_BYTES - 2);
        expect(Object.keys(result)).not.toContain("truncated");
      } else {
        expect(result).toMatchObject({
          path: `s${index}`,
          status: "success",
          input: null,
          output: null,
          truncated: true,
          inputBytes: JSON.stringify({ mapping: index }).length,
          outputBytes: OUTPUT_BYTES,
        });
      }
    }
  });

  it("are answered, or refused with 429, however many come at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => system.call("GET", `/runs/${largeId}`)),
    );
    const outcomes = answers.map(({ status, text, error, headers }) =>
      status === 200
        ? text.length
        : [status, error?.code, error?.details, Number(headers.get("retry-after")) > 0],
    );
    const whole = (await system.call("GET", `/runs/${largeId}`)).text.length;
    expect(outcomes).toContain(whole);
    const refused = [429, "RATE_LIMITED", { limit: "reading" }, true];
    for (const outcome of outcomes) expect([whole, refused]).toContainEqual(outcome);
  });

  it("answer HEAD like GET, without a body", async () => {
    for (const id of [largeId, nestedId]) {
      const response = await fetch(`${system.origin}/api/v1/runs/${id}`, {
        method: "HEAD",
        headers: { "x-api-key": system.acme.key },
      });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      expect(await response.text()).toBe("");
    }
  });
});

describe("GET /runs/{id}/steps", () => {
  it("pages through the results, each page with at most 8 MiB", async () => {
    const seen: [string, boolean][] = [];
    let query = "?limit=8";
    for (let pages = 0; ; pages += 1) {
      expect(pages).toBeLessThan(4);
      const { status, data, meta } = await system.call("GET", `/runs/${largeId}/steps${query}`);
      expect(status).toBe(200);
      for (const { path, truncated } of stepsSchema.parse(data)) seen.push([path, !truncated]);
      const { cursor = null, hasMore } = meta ?? {};
      expect(hasMore).toBe(cursor !== null);
      if (cursor === null) break;
      query = `?limit=8&cursor=${encodeURIComponent(cursor)}`;
    }
    const expected = Array.from({ length: STEPS }, (_, index) => [`s${index}`, index % 8 < 2]);
    expect(seen).toEqual(expected);
  });

  it("shows results as the run does", async () => {
    const { data, meta } = await system.call("GET", `/runs/${nestedId}/steps`);
    expect(data).toEqual((await getRun(system, nestedId)).stepResults);
    expect(meta).toEqual({ cursor: null, hasMore: false });
  });

  it.each(["limit=0", "limit=101", "limit=x", "limit=1.5", "cursor=x"])(
    "answers 400 to %s, naming it",
    async (query) => {
      const { status, error } = await system.call("GET", `/runs/${nestedId}/steps?${query}`);
      const path = [query.split("=")[0]];
      expect({ status, error }).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST", details: [expect.objectContaining({ path })] },
      });
    },
  );

  it("answers 400 to the cursor of another run, and 404 to who asks for another's run", async () => {
    const { meta } = await system.call("GET", `/runs/${nestedId}/steps?limit=1`);
    const cursor = encodeURIComponent(meta?.cursor ?? "");
    const other = await system.call("GET", `/runs/${largeId}/steps?cursor=${cursor}`);
    expect(other.status).toBe(400);
    const stranger = { key: system.globex.key };
    expect((await system.call("GET", `/runs/${nestedId}/steps`, stranger)).status).toBe(404);
  });
});

describe("GET /runs/{id}/steps/{path}", () => {
  it("gives what the run leaves out", async () => {
    const { status, data } = await system.call("GET", `/runs/${largeId}/steps/s19`);
    expect(status).toBe(200);
    expect(data).toMatchObject({ path: "s19", output: "x".repeat(OUTPUT_BYTES - 2) });
    expect(data).not.toHaveProperty("truncated");
  });

  it.each(["l%5B2%5D.child", "l[2].child", "%6C%5b2%5d%2Echild"])(
    "finds a nested result as %s",
    async (path) => {
      const { data } = await system.call("GET", `/runs/${nestedId}/steps/${path}`);
      const { stepResults } = await getRun(system, nestedId);
      expect(data).toEqual(stepResults.find((result) => result.path === "l[2].child"));
      expect(data).toMatchObject({ output: { n: 2 } });
    },
  );

  it.each(["l[3].child", "l%255B2%255D.child", "child", "l%2F", "%20"])(
    "answers 404 to %s",
    async (path) => {
      const { status, error } = await system.call("GET", `/runs/${nestedId}/steps/${path}`);
      expect({ status, code: error?.code }).toEqual({ status: 404, code: "NOT_FOUND" });
    },
  );

  it.each(["%00", "%E0%A4%A"])("answers 400 to %s", async (path) => {
    expect((await system.call("GET", `/runs/${nestedId}/steps/${path}`)).status).toBe(400);
  });

  it("answers 404 for another company's run", async () => {
    const path = `/runs/${nestedId}/steps/l`;
    expect((await system.call("GET", path)).status).toBe(200);
    expect((await system.call("GET", path, { key: system.globex.key })).status).toBe(404);
  });
});
