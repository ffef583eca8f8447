import { parseJsonText } from "@workflow/definition";
import type { Violation } from "@workflow/errors";
import { z } from "zod";
import { unsupportedModelsOfBlocks } from "./agent-models.ts";
import { badRequest } from "./content.ts";

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

const parallel = z.looseObject({ id: text, nodes: z.array(text), enabled: z.boolean() });

/** The editor's state as the contract has it; unknown members are kept. */
const canvasState = z.looseObject({
  blocks: map(block),
  edges: z.array(z.looseObject({})),
  loops: map(z.looseObject({})),
  parallels: map(parallel),
  viewport: z
    .looseObject({
      x: z.number().optional(),
      y: z.number().optional(),
      zoom: z.number().optional(),
    })
    .optional(),
});

const CANVAS_BYTES_MAX = 1024 * 1024;
/** As many as of a definition: a broken editor breaks every block in the same way. */
const VIOLATIONS_MAX = 50;

/**
 * Checks the state of the visual editor. Throws BAD_REQUEST with the problems, at most 50, their
 * paths beginning with `canvasState`.
 */
export function checkCanvasState(canvasStateJson: string): void {
  const violations = findProblems(canvasStateJson);
  if (violations.length > 0) {
    throw badRequest(
      violations
        .slice(0, VIOLATIONS_MAX)
        .map(({ path, message }) => ({ path: ["canvasState", ...path], message })),
    );
  }
}

function findProblems(canvasStateJson: string): Violation[] {
  if (Buffer.byteLength(canvasStateJson) > CANVAS_BYTES_MAX) {
    return [{ path: [], message: `must have at most ${CANVAS_BYTES_MAX} bytes` }];
  }
  const parsed = parseJsonText(canvasStateJson, "object");
  if (!parsed.ok) return [{ path: [], message: parsed.message }];
  const checked = canvasState.safeParse(parsed.value, { error: explain });
  return checked.success ? unsupportedModelsOfBlocks(checked.data.blocks) : toViolations(checked);
}

function toViolations({ error }: z.ZodSafeParseError<unknown>): Violation[] {
  return error.issues.map(({ path, message }) => ({ path: path.map(String), message }));
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
