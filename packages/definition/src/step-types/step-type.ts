import type { JsonObject } from "@workflow/json";
import type { z } from "zod";
import type { CompiledStep, CompiledStepBase } from "../compiled-definition.ts";
import type { ParsedExpressions } from "../expression.ts";
import type { Problems } from "../problems.ts";
import type { NestedBlock, TemplateField } from "../step.ts";
import type { TemplateReference } from "../template-scan.ts";

/** The parts of a step that its type is about; the config may be anything until it was checked. */
export interface TypedPart {
  action: string | undefined;
  config: JsonObject;
  /** Whether the config has the values of templates that are known before a run; no where it is left out. */
  isResolved?: boolean;
}

/** Compiles one list of nested steps; the label is the block's. */
export type CompileBlock = (steps: unknown, label: string | null) => readonly CompiledStep[];

/**
 * Everything that is particular to one type of step. A new type is a file with one of these, a line
 * in the registry and a member of CompiledStep. All but `compile` take any config without throwing.
 */
export interface StepType {
  readonly type: string;
  /** For people: a name, and what it does and returns. */
  readonly title: string;
  readonly description: string;
  /** The config's shape, also for export as JSON Schema; of an action its inputs come on top. */
  readonly configSchema: z.ZodType;
  /** Whether it follows the workflow's retry policy: it does one thing outside, which may fail. */
  readonly inheritsRetry: boolean;
  /** Whether `connectionId` in the config names a connection that the step works with. */
  readonly takesConnection?: true;
  /** Adds what is wrong with the step, nested steps and template syntax excepted. */
  check(step: TypedPart, stepPath: readonly string[], problems: Problems): void;
  /** The lists of steps in the config; each is checked and counted like the top one. */
  blocks(config: JsonObject): NestedBlock[];
  /** The parts of the config in which templates are evaluated. */
  templateFields(step: TypedPart): TemplateField[];
  /** The JSONata texts in the config. */
  readonly expressions?: (config: JsonObject) => string[];
  /**
   * What the config reads without a template, each with the place of the text that does, in the
   * config; as far as its expressions have been parsed.
   */
  readonly references?: (step: TypedPart, expressions: ParsedExpressions) => TemplateReference[];
  /** Whether the outputs of all steps can be seen, templates or not; no when it is left out. */
  readonly seesAllOutputs?: (config: JsonObject) => boolean;
  /** Compiles a step that passed `check`. */
  compile(step: TypedPart, base: CompiledStepBase, compileBlock: CompileBlock): CompiledStep;
}
