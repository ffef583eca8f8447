import { createHash } from "node:crypto";
import type { NewWorkflow, Workflow } from "@workflow/client";
import { z } from "zod";
import { usageError } from "../failures.ts";
import { readTextFile } from "../input.ts";
import { writeWholeFile } from "./write-whole-file.ts";

/** The ending of definition files. */
export const SUFFIX = ".workflow.json";

/**
 * The content of a definition file. The server checks trigger and steps, so files for a newer service pass.
 */
const fileSchema = z.strictObject({
  id: z.string().optional(),
  basedOn: z.string().optional(),
  name: z.string(),
  description: z.string().nullable().default(null),
  trigger: z.record(z.string(), z.unknown()),
  steps: z.array(z.record(z.string(), z.unknown())),
  inputSchema: z.unknown().default(null),
  outputSchema: z.unknown().default(null),
  settings: z.record(z.string(), z.unknown()).nullable().default(null),
});

/** A definition as files keep it: everything that people write, nothing that a run changes. */
export type Definition = Required<NewWorkflow>;

/** A file with a definition. */
export interface WorkflowFile {
  path: string;
  /** The id of the workflow on the server; undefined before the first push. */
  id: string | undefined;
  /**
   * The fingerprint of the server's definition on which this one is based; undefined before the first push.
   */
  basedOn: string | undefined;
  definition: Definition;
}

/**
 * Reads a definition file.
 * @throws CliError that names the file and the fault
 */
export async function readWorkflowFile(path: string): Promise<WorkflowFile> {
  return parseWorkflowFile(path, await readTextFile(path));
}

/**
 * Parses the text of a definition file.
 * @throws CliError that names the file and the fault
 */
export function parseWorkflowFile(path: string, text: string): WorkflowFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = text.trim() === "" ? "it is empty" : String(error);
    throw usageError(`${path} is no JSON, or only half of it: ${reason}.`);
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) {
    throw usageError(
      `${path} is no workflow.`,
      ...parsed.error.issues.map(
        ({ path: at, message }) => `${at.join(".") || "(all)"}: ${message}`,
      ),
    );
  }
  const { id, basedOn, ...definition } = parsed.data;
  // Trigger, steps and schemas are checked by the server.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { path, id, basedOn, definition: definition as Definition };
}

/** Writes a definition file with its keys in a fixed order. */
export async function writeWorkflowFile(file: WorkflowFile): Promise<void> {
  const { id, basedOn, definition } = file;
  const members = Object.entries(inOrder(definition)).map(([name, value]) => [name, sorted(value)]);
  const content = { id, basedOn, ...Object.fromEntries(members) };
  await writeWholeFile(file.path, `${JSON.stringify(content, null, 2)}\n`);
}

/** The part of a workflow that files keep. */
export function definitionOf(workflow: Workflow): Definition {
  return inOrder({ ...workflow, description: workflow.description ?? null });
}

/** A hash of a definition. The order of keys does not matter. */
export function fingerprint(definition: Definition): string {
  const text = JSON.stringify(sorted(inOrder(definition)));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The lines of a definition with sorted keys, for comparison. */
export function toLines(definition: Definition): string {
  return `${JSON.stringify(sorted(inOrder(definition)), null, 2)}\n`;
}

function inOrder(definition: Definition): Definition {
  const { name, description, trigger, steps, inputSchema, outputSchema, settings } = definition;
  return {
    name,
    description: description === "" ? null : description,
    trigger,
    steps,
    inputSchema,
    outputSchema,
    settings,
  };
}

const FIRST_KEYS = ["id", "type", "name", "action"];

/** The same value with sorted object keys: names and ids first, then alphabetically. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const rank = (key: string): number => FIRST_KEYS.indexOf(key) + 1 || 99;
  const entries = Object.entries(value).sort(
    ([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0),
  );
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
