import { invalidRequest } from "@workflow/errors";
import type { AppError, Violation } from "@workflow/errors";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";
import { invalidDefinition } from "./content.ts";
import { below, readJson } from "./json-text.ts";

const text = z.string();
const map = (entry: z.ZodType) => z.record(text, entry);
const position = z.looseObject({ x: z.number(), y: z.number() });

const block = z.looseObject({
  id: text,
  type: text,
  name: text,
  position,
  subBlocks: z.looseObject({}),
  outputs: z.looseObject({}),
  enabled: z.boolean(),
  horizontalHandles: z.boolean(),
});

const loop = z.looseObject({});
const parallel = z.looseObject({ id: text, nodes: z.array(text), enabled: z.boolean() });

/** The editor's state as in the contract; unknown members are kept. */
const canvasState = z.looseObject({
  blocks: map(block),
  edges: z.array(z.looseObject({})),
  loops: map(loop),
  parallels: map(parallel),
  viewport: z
    .looseObject({
      x: z.number().optional(),
      y: z.number().optional(),
      zoom: z.number().optional(),
    })
    .nullish(),
});

const CANVAS_BYTES_MAX = 1024 * 1024;
/** As many as for a definition: a broken editor breaks every block in the same way. */
const VIOLATIONS_MAX = 50;

/** The checked state of the visual editor. */
export interface CheckedCanvas {
  /** The JSON text to store, see `readJson`. */
  text: string;
  blocks: JsonObject;
}

/**
 * Checks the state of the visual editor.
 *
 * @throws AppError BAD_REQUEST with at most 50 problems, their paths beginning with `canvasState`;
 * VALIDATION_ERROR for numbers that JavaScript cannot hold
 */
export function checkCanvasState(canvasStateJson: string): CheckedCanvas {
  requireSize(canvasStateJson);
  const read = readJson(canvasStateJson, "object");
  if (!read.ok) throw badCanvas([{ path: [], message: read.message }]);
  const { value, text, infinite } = read;
  const checked = canvasState.safeParse(value, { error: explain });
  const violations = checked.success ? [] : toViolations(checked, []);
  violations.push(...entryViolations(value));
  if (violations.length > 0) throw badCanvas(violations);
  if (infinite.length > 0) throw invalidDefinition(inCanvas(infinite));
  requireSize(text);
  return { text, blocks: objectAt(value, "blocks") };
}

/** The BAD_REQUEST for a state with these problems. */
export function badCanvas(violations: readonly Violation[]): AppError {
  return invalidRequest(inCanvas(violations));
}

function inCanvas(violations: readonly Violation[]): Violation[] {
  return below(["canvasState"], violations.slice(0, VIOLATIONS_MAX));
}

function requireSize(text: string): void {
  if (Buffer.byteLength(text) <= CANVAS_BYTES_MAX) return;
  throw badCanvas([{ path: [], message: `must have at most ${CANVAS_BYTES_MAX} bytes` }]);
}

/** The maps whose entries have a schema, and whether an entry's id has to equal its key. */
const MAPS = [
  { name: "blocks", entry: block, isKeyedById: true },
  { name: "loops", entry: loop, isKeyedById: false },
  { name: "parallels", entry: parallel, isKeyedById: true },
] as const;

/** Checks that zod cannot make: it skips an entry called `__proto__`, and does not see keys. */
function entryViolations(state: unknown): Violation[] {
  return MAPS.flatMap(({ name, entry, isKeyedById }) =>
    Object.entries(objectAt(state, name)).flatMap(([key, value]) => {
      const path = [name, key];
      const checked = entry.safeParse(value, { error: explain });
      if (!checked.success) return key === "__proto__" ? toViolations(checked, path) : [];
      if (!isKeyedById || ownProperty(value, "id") === key) return [];
      return [{ path: [...path, "id"], message: "must be the key under which the entry stands" }];
    }),
  );
}

function toViolations(
  { error }: z.ZodSafeParseError<unknown>,
  path: readonly string[],
): Violation[] {
  return below(
    path,
    error.issues.map((issue) => ({ path: issue.path.map(String), message: issue.message })),
  );
}

function objectAt(value: unknown, key: string): JsonObject {
  const member = ownProperty(value, key);
  return isJsonObject(member) ? member : {};
}

function ownProperty(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function explain(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_type") return undefined;
  const kind = KINDS[issue.expected] ?? issue.expected;
  return issue.input === undefined ? `is required and must be ${kind}` : `must be ${kind}`;
}

const KINDS: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "a boolean",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
};
