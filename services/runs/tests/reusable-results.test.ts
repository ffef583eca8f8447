import { describe, expect, it } from "@jest/globals";
import { compileDefinition } from "@workflow/definition";
import { parseStepPath } from "../src/operations/step-path.ts";
import { findRestartPath, findRetryPath } from "../src/operations/restart-point.ts";
import { reusableResults } from "../src/operations/reusable-results.ts";
import type { RecordedResult } from "../src/operations/reusable-results.ts";

const leaf = (id: string, more: object = {}) => ({
  id,
  type: "transform",
  name: id,
  config: { mapping: 1 },
  ...more,
});
const container = (id: string, type: string, config: object, more: object = {}) => ({
  id,
  type,
  name: id,
  config,
  ...more,
});

const HOLDS = { left: 1, operator: "equals", right: 1 };

/** Every way to nest: a condition, a loop in a parallel branch, items, and steps around them. */
const STEPS = compileDefinition({
  trigger: { type: "api" },
  settings: null,
  steps: [
    leaf("first"),
    leaf("tolerant", { onError: "continue" }),
    container("cond", "condition", {
      branches: [
        { id: "yes", when: HOLDS, steps: [leaf("y1"), leaf("y2")] },
        { id: "no", when: HOLDS, steps: [leaf("n1")] },
      ],
      else: [leaf("e1")],
    }),
    container("par", "parallel", {
      branches: [
        {
          id: "a",
          steps: [
            container("loop", "loop", { count: 5, steps: [leaf("l1"), leaf("l2")] }),
            leaf("a2"),
          ],
        },
        { id: "b", steps: [leaf("b1"), leaf("b2")] },
      ],
    }),
    container("each", "parallel", { forEach: [1, 2, 3], steps: [leaf("i1"), leaf("i2")] }),
    leaf("last"),
  ],
}).steps;

/** `path` ended well, `path!` failed, `path?` was skipped, `path~` was cancelled. */
function result(text: string): RecordedResult {
  const path = text.replace(/[!?~]$/, "");
  const stepId = path.split(".").at(-1) ?? "";
  const base = { path, stepId, errorCode: null };
  if (text.endsWith("!")) return { ...base, status: "error", errorCode: "HTTP_STATUS" };
  if (text.endsWith("~")) return { ...base, status: "error", errorCode: "CANCELLED" };
  return { ...base, status: text.endsWith("?") ? "skipped" : "success" };
}
const results = (text: string) => text.split(" ").filter(Boolean).map(result);

function kept(recorded: string, restart: string): string {
  const place = parseStepPath(STEPS, restart);
  if (place === null) throw new Error(`no place ${restart}`);
  return reusableResults(STEPS, results(recorded), place).join(" ");
}

const WHOLE =
  "first tolerant! cond cond.yes.y1 cond.yes.y2 par par.a.loop par.a.loop[0].l1 par.a.loop[0].l2 " +
  "par.a.loop[1].l1 par.a.loop[1].l2 par.a.a2 par.b.b1 par.b.b2 each each[0].i1 each[0].i2 " +
  "each[1].i1 each[1].i2 last";

describe("the results that a restart takes over", () => {
  it.each([
    ["first", ""],
    ["tolerant", "first"],
    ["cond", "first tolerant"],
    ["par", "first tolerant cond cond.yes.y1 cond.yes.y2"],
    ["last", WHOLE.replace(/ last$/, "").replace("tolerant!", "tolerant")],
    // Inside a branch of a condition: what is before it there; the condition is decided again.
    ["cond.yes.y2", "first tolerant cond.yes.y1"],
    ["cond.no.n1", "first tolerant cond.yes.y1 cond.yes.y2"],
    [
      // Inside a loop: earlier iterations, earlier steps of this one, and the other branches.
      "par.a.loop[1].l2",
      "first tolerant cond cond.yes.y1 cond.yes.y2 par.a.loop[0].l1 par.a.loop[0].l2 " +
        "par.a.loop[1].l1 par.b.b1 par.b.b2",
    ],
    ["par.a.loop", "first tolerant cond cond.yes.y1 cond.yes.y2 par.b.b1 par.b.b2"],
    [
      "par.b.b2",
      "first tolerant cond cond.yes.y1 cond.yes.y2 par.a.loop par.a.loop[0].l1 par.a.loop[0].l2 " +
        "par.a.loop[1].l1 par.a.loop[1].l2 par.a.a2 par.b.b1",
    ],
    [
      // Items do not depend on each other, whichever way round.
      "each[0].i2",
      "first tolerant cond cond.yes.y1 cond.yes.y2 par par.a.loop par.a.loop[0].l1 " +
        "par.a.loop[0].l2 par.a.loop[1].l1 par.a.loop[1].l2 par.a.a2 par.b.b1 par.b.b2 " +
        "each[0].i1 each[1].i1 each[1].i2",
    ],
  ])("from %s", (restart, expected) => {
    expect(kept(WHOLE, restart)).toBe(expected);
  });

  it("are those that ended well, were skipped, or failed without counting", () => {
    expect(kept("first? tolerant! cond!", "par")).toBe("first tolerant");
    expect(kept("first! tolerant", "par")).toBe("tolerant");
  });

  it("are never those of a branch that was given up, not even inside a step that went on", () => {
    expect(kept("first par par.a.loop~ par.a.loop[0].l1 par.a.loop[0].l2~ par.b.b1", "last")).toBe(
      "first par par.a.loop[0].l1 par.b.b1",
    );
  });

  it("hold what failed inside a step that went on all the same", () => {
    // As wait-all-settled leaves it.
    expect(kept("par par.a.loop! par.a.loop[0].l1! par.b.b1", "last")).toBe(
      "par par.a.loop par.a.loop[0].l1 par.b.b1",
    );
    // The parallel step itself is done again, so its failed branch is, too.
    expect(kept("par! par.a.loop! par.a.loop[0].l1 par.a.loop[0].l2! par.b.b1!", "par.b.b1")).toBe(
      "par.a.loop[0].l1",
    );
  });

  it("leave out paths that the definition does not have", () => {
    expect(kept("first gone cond.gone.y1 par[0].b1 first.x loop", "last")).toBe("first");
  });

  it("of ten thousand iterations are found without delay", () => {
    const many = Array.from({ length: 5_000 }, (_, index) => [
      result(`par.a.loop[${index}].l1`),
      result(`par.a.loop[${index}].l2`),
    ]).flat();
    const place = parseStepPath(STEPS, "par.a.loop[4999].l2");
    expect(reusableResults(STEPS, many, place)).toHaveLength(9_999);
  });
});

describe("the place where a restart begins", () => {
  const placeOf = (idOrPath: string, recorded = WHOLE) =>
    findRestartPath(STEPS, results(recorded), idOrPath)?.at(-1)?.path ?? null;

  it.each([
    ["last", "last"],
    ["y2", "cond.yes.y2"],
    // Never executed: the first place where it could be.
    ["e1", "cond.else.e1"],
    ["l2", "par.a.loop[0].l2"],
    ["i2", "each[0].i2"],
    ["par.a.loop[1].l1", "par.a.loop[1].l1"],
    // The next iteration, which nothing forbids.
    ["par.a.loop[2].l1", "par.a.loop[2].l1"],
  ])("of %s is %s", (idOrPath, expected) => {
    expect(placeOf(idOrPath)).toBe(expected);
  });

  it.each([
    "nowhere",
    "",
    ".",
    "first.",
    "first[0]",
    "cond.yes",
    "cond.maybe.y1",
    "cond.yes.n1",
    "par.a",
    "par.loop[0].l1",
    "par.a.loop.l1",
    "par.a.loop[01].l1",
    "par.a.loop[-1].l1",
    "par.a.loop[3].l1",
    "par.a.loop[999999999].l1",
    "each[5].i1",
    "__proto__",
    "constructor",
  ])("of %j does not exist", (idOrPath) => {
    expect(placeOf(idOrPath)).toBeNull();
  });

  it("of a nested step's id is where it was executed first, in execution order", () => {
    expect(placeOf("i1", "first each[2].i1 each[0].i1")).toBe("each[2].i1");
  });
});

describe("the place where a retry begins", () => {
  const placeOf = (recorded: string, failedPath: string | null = null) =>
    findRetryPath(STEPS, results(recorded), failedPath)?.at(-1)?.path ?? null;

  it("is the step that failed the run", () => {
    expect(placeOf("first tolerant! cond! cond.yes.y1 cond.yes.y2!", "cond.yes.y2")).toBe(
      "cond.yes.y2",
    );
  });

  it.each([
    ["", "first"],
    ["first tolerant!", "cond"],
    ["first!", "first"],
    ["first tolerant cond.no.n1!", "cond.no.n1"],
    ["first tolerant cond.yes.y1", "cond.yes.y2"],
    ["first tolerant cond par.b.b1 par.b.b2", "par.a.loop"],
    ["first tolerant cond par.a.loop[0].l1 par.a.loop[0].l2 par.a.loop[1].l1", "par.a.loop[1].l2"],
    ["first tolerant cond par.a.loop[0].l1 par.a.loop[0].l2", "par.a.loop[1].l1"],
    ["first tolerant cond par.a.loop par.a.a2 par.b.b1", "par.b.b2"],
    ["first tolerant cond par each[0].i1 each[0].i2 each[2].i1", "each[1].i1"],
    ["first tolerant cond par each", "last"],
  ])("after %j is %s", (recorded, expected) => {
    expect(placeOf(recorded)).toBe(expected);
  });

  it("does not believe a path that is not a recorded failure", () => {
    expect(placeOf("first tolerant!", "last")).toBe("cond");
    expect(placeOf("first tolerant!", "some.childs[3].step")).toBe("cond");
  });

  it("is nowhere when every step has ended well", () => {
    expect(placeOf("first tolerant cond par each last?")).toBeNull();
  });
});
