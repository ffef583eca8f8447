import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createActive, transform } from "../support/scenarios.ts";
import { createThreeVersions, put } from "../support/versions.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

const compare = (id: string, from: number | string, to: number | string) =>
  system.call("GET", `/workflows/${id}/versions/compare?from=${from}&to=${to}`);

describe("GET /workflows/{id}/versions/compare", () => {
  it("has exactly the contract's shape, and details of modified steps beside it", async () => {
    const id = await createThreeVersions(system);
    const { status, data } = await compare(id, 1, 3);
    expect(status).toBe(200);
    expect(data).toEqual({
      fromVersion: 1,
      toVersion: 3,
      changes: {
        name: { from: "One", to: "Two", changed: true },
        description: { from: null, to: "Three", changed: true },
        trigger: { changed: false },
        steps: {
          added: [],
          removed: [],
          modified: ["out"],
          modifiedDetails: [
            {
              id: "out",
              changes: [{ path: "/config/mapping", kind: "changed", from: 1, to: 3 }],
            },
          ],
        },
      },
    });
  });

  it("finds no difference between a version and itself, nor in the order of keys", async () => {
    const id = await createActive(system, {
      trigger: { type: "webhook", path: "in" },
      steps: [transform("out", { a: 1, b: 2 })],
    });
    await put(system, id, {
      trigger: { path: "in", type: "webhook" },
      steps: [transform("out", { b: 2, a: 1 })],
    });
    for (const to of [1, 2]) {
      const { data } = await compare(id, 1, to);
      expect(data).toMatchObject({
        changes: {
          name: { changed: false },
          description: { from: null, to: null, changed: false },
          trigger: { changed: false },
          steps: { added: [], removed: [], modified: [], modifiedDetails: [] },
        },
      });
    }
  });

  it("counts nested steps by their ids, and the step around them as modified", async () => {
    const loop = (steps: unknown[]) => ({
      id: "loop",
      type: "loop",
      name: "loop",
      config: { count: 2, steps },
    });
    const id = await createActive(system, {
      steps: [transform("first", 1), loop([transform("in", "a/b"), transform("gone", 1)])],
    });
    await put(system, id, {
      steps: [loop([transform("in", { "a/~b": 1 }), transform("new", 1)]), transform("first", 1)],
    });
    const { data } = await compare(id, 1, 2);
    expect(data).toMatchObject({
      changes: {
        steps: {
          added: ["new"],
          removed: ["gone"],
          modified: ["loop", "in"],
          modifiedDetails: [
            {
              id: "loop",
              changes: [
                { path: "", kind: "moved", from: "/steps/1", to: "/steps/0" },
                { path: "/config/steps/0", kind: "nested" },
                { path: "/config/steps/1", kind: "changed", from: "gone", to: "new" },
              ],
            },
            {
              id: "in",
              changes: [
                { path: "/config/mapping", kind: "changed", from: "a/b", to: { "a/~b": 1 } },
              ],
            },
          ],
        },
      },
    });
    const back = await compare(id, 2, 1);
    expect(back.data).toMatchObject({ changes: { steps: { added: ["gone"], removed: ["new"] } } });
  });

  it("tells of steps that only moved: in their list, to another one, and no more than those", async () => {
    const loop = (steps: unknown[]) => ({
      id: "loop",
      type: "loop",
      name: "loop",
      config: { count: 2, steps },
    });
    const named = (...ids: string[]) => ids.map((each) => transform(each, 1));
    const moving = await createActive(system, {
      steps: [...named("a", "b", "c", "d"), loop(named("in"))],
    });
    await put(system, moving, { steps: [...named("d", "a", "b", "c"), loop(named("in"))] });
    await put(system, moving, { steps: [...named("d", "a", "c"), loop(named("b", "in"))] });
    await put(system, moving, {
      steps: [...named("new", "d", "a", "c"), loop(named("b", "in"))],
    });
    const stepsOf = async (from: number, to: number) => {
      const { data } = await compare(moving, from, to);
      return z.object({ changes: z.object({ steps: z.unknown() }) }).parse(data).changes.steps;
    };
    expect(await stepsOf(1, 2)).toEqual({
      added: [],
      removed: [],
      modified: ["d"],
      modifiedDetails: [
        { id: "d", changes: [{ path: "", kind: "moved", from: "/steps/3", to: "/steps/0" }] },
      ],
    });
    expect(await stepsOf(2, 3)).toMatchObject({
      added: [],
      removed: [],
      modified: ["loop", "b"],
      modifiedDetails: [
        { id: "loop" },
        {
          id: "b",
          changes: [{ path: "", kind: "moved", from: "/steps/2", to: "/steps/3/config/steps/0" }],
        },
      ],
    });
    expect(await stepsOf(3, 4)).toEqual({
      added: ["new"],
      removed: [],
      modified: [],
      modifiedDetails: [],
    });
  });

  it("writes JSON pointers and says where there are too many changes or too much text", async () => {
    const id = await createActive(system, {
      steps: [transform("out", { "a/b~c": [1, 2, 3], long: "x" })],
    });
    await put(system, id, {
      steps: [transform("out", { "a/b~c": [1, 9], long: "y".repeat(2_000) })],
    });
    await put(system, id, {
      steps: [transform("out", Object.fromEntries(Array.from({ length: 500 }, (_, n) => [n, n])))],
    });
    expect((await compare(id, 1, 2)).data).toMatchObject({
      changes: {
        steps: {
          modifiedDetails: [
            {
              id: "out",
              changes: [
                { path: "/config/mapping/a~1b~0c/1", kind: "changed", from: 2, to: 9 },
                { path: "/config/mapping/a~1b~0c/2", kind: "removed", from: 3 },
                { path: "/config/mapping/long", kind: "changed", from: "x" },
              ],
            },
          ],
        },
      },
    });
    const { data } = await compare(id, 1, 3);
    const details = z
      .object({
        changes: z.object({
          steps: z.object({
            modifiedDetails: z.array(
              z.object({ changes: z.array(z.unknown()), truncated: z.boolean() }),
            ),
          }),
        }),
      })
      .parse(data).changes.steps.modifiedDetails[0];
    expect(details?.truncated).toBe(true);
    expect(details?.changes).toHaveLength(100);
  });

  it.each([
    ["?from=1", ["to"]],
    ["?to=1", ["from"]],
    ["", ["from", "to"]],
    ["?from=a&to=1.5", ["from", "to"]],
    ["?from=&to=1", ["from"]],
    ["?from=1e0&to=1", ["from"]],
  ])("answers 400 to %s, naming the parameter", async (query, names) => {
    const id = await createThreeVersions(system);
    const { status, error } = await system.call("GET", `/workflows/${id}/versions/compare${query}`);
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: "BAD_REQUEST",
      details: names.map((name) => ({ path: [name], message: expect.any(String) })),
    });
  });

  it.each([
    [1, 4],
    [0, 1],
    [-1, 1],
    [1, 4294967297],
  ])("answers 404 for an unknown version: %s to %s", async (from, to) => {
    const id = await createThreeVersions(system);
    expect(await compare(id, from, to)).toMatchObject({
      status: 404,
      error: { code: "NOT_FOUND", message: "Workflow version not found" },
    });
  });
});
