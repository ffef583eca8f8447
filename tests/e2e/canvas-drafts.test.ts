import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { canvasState } from "../support/canvas.ts";
import { createActive, createWorkflow, postRun, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const save = (id: string, body: unknown) =>
  system.call("PATCH", `/workflows/${id}/canvas`, { body });

const read = async (id: string) => (await system.call("GET", `/workflows/${id}`)).data;

const loop = (steps: unknown, config: object = { count: 2 }) => ({
  id: "loop",
  type: "loop",
  name: "loop",
  config: { ...config, steps },
});
const parallel = (config: object) => ({ id: "par", type: "parallel", name: "par", config });

describe("unfinished drafts", () => {
  const unfinished: [string, unknown][] = [
    ["an empty loop body", loop([])],
    ["a static parallel without branches", parallel({ branches: [] })],
    [
      "a shell with options",
      parallel({ branches: [], strategy: "wait-any", concurrency: 3, timeout: 5_000 }),
    ],
    ["an empty shell in a loop", loop([parallel({ branches: [] })])],
  ];

  it.each(unfinished)("may have %s, but not once it is active", async (_what, step) => {
    const body = { canvasState: canvasState(), steps: [step, transform("out", 1)] };
    const { id } = await createWorkflow(system);
    expect(await save(id, body)).toMatchObject({ status: 200, error: undefined });
    expect(await read(id)).toMatchObject({ steps: body.steps });

    const activation = await system.call("POST", `/workflows/${id}/activate`);
    expect(activation).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    expect(await postRun(system, id)).toMatchObject({
      status: 400,
      error: { code: "WORKFLOW_NOT_ACTIVE" },
    });
    const put = await system.call("PUT", `/workflows/${id}`, { body: { steps: body.steps } });
    expect(put).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    // What it does not touch does not stand in the way of an update.
    const renaming = await system.call("PUT", `/workflows/${id}`, { body: { name: "Renamed" } });
    expect(renaming).toMatchObject({ status: 200, data: { name: "Renamed" } });

    const active = await createActive(system);
    const before = await read(active);
    expect(await save(active, body)).toMatchObject({
      status: 400,
      error: { code: "VALIDATION_ERROR" },
    });
    expect(await read(active)).toEqual(before);
  });

  it.each([
    ["a bad strategy", parallel({ branches: [], strategy: "no-such" }), "strategy"],
    ["a bad concurrency", parallel({ branches: [], concurrency: 0 }), "concurrency"],
    ["a bad timeout", parallel({ branches: [], timeout: -1 }), "timeout"],
    ["forEach beside branches", parallel({ branches: [], forEach: "{{input.items}}" }), ""],
    ["a loop over nothing", loop([], {}), ""],
    ["a body that is no list", loop({}), "steps"],
    ["an unknown type", { id: "x", type: "no-such", name: "x", config: {} }, "type"],
    ["an unknown step in a template", transform("x", "{{steps.gone.output}}"), "mapping"],
  ])("are refused with %s", async (_what, step, field) => {
    const { id } = await createWorkflow(system);
    const { status, error } = await save(id, { canvasState: canvasState(), steps: [step] });
    expect(status).toBe(400);
    expect(error?.code).toBe("VALIDATION_ERROR");
    const details = z.array(z.object({ path: z.array(z.string()) })).parse(error?.details);
    for (const { path } of details) expect(path.slice(0, 2)).toEqual(["steps", "0"]);
    if (field !== "") expect(details[0]?.path).toContain(field);
  });
});
