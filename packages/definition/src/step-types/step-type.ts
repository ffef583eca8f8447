import type { JsonObject } from "@workflow/json";
import type { z } from "zod";
import type { CompiledStep, CompiledStepBase } from "../compiled-definition.ts";
import type { ParsedExpressions } from "../expression.ts";
import type { Problems } from "../problems.ts";
import type { NestedBlock, TemplateField } from "../step.ts";
import type { TemplateReference } from "../template-scan.ts";

/** The parts of a step that its type handles. The config may be any value until it was checked. */
export interface TypedPart {
  action: string | undefined;
  config: JsonObject;
  /** Whether the templates whose values are known before a run are resolved; false by default. */
  isResolved?: boolean;
}

/** Compiles one list of nested steps; the label is the block's. */
export type CompileBlock = (steps: unknown, label: string | null) => readonly CompiledStep[];

/**
 * The particulars of one step type. A new type is a file with one of these, a line in the registry and a
 * member of CompiledStep. All but `compile` take any config without throwing.
 */
export interface StepType {
  readonly type: string;
  /** A name for people, and a description of effect and output. */
  readonly title: string;
  readonly description: string;
  /**
   * The schema of the config, also exported as JSON Schema. A step of type action has the action's inputs in
   * addition.
   */
  readonly configSchema: z.ZodType;
  /** Whether the step follows the workflow's retry policy: it has one effect outside, which may fail. */
  readonly inheritsRetry: boolean;
  /** Whether `connectionId` in the config names a connection that the step uses. */
  readonly takesConnection?: true;
  /** Adds the violations of the step, apart from nested steps and template syntax. */
  check(step: TypedPart, stepPath: readonly string[], problems: Problems): void;
  /** The lists of steps in the config; each is checked and counted like the top one. */
  blocks(config: JsonObject): NestedBlock[];
  /** The parts of the config in which templates are evaluated. */
  templateFields(step: TypedPart): TemplateField[];
  /** The JSONata texts in the config. */
  readonly expressions?: (config: JsonObject) => string[];
  /**
   * The references that the config reads without a template. Each comes with the place in the config of its
   * text. Unparsed expressions are left out.
   */
  readonly references?: (step: TypedPart, expressions: ParsedExpressions) => TemplateReference[];
  /** Whether the step can see the outputs of all steps, with or without templates; false by default. */
  readonly seesAllOutputs?: (config: JsonObject) => boolean;
  /** Compiles a step that passed `check`. */
  compile(step: TypedPart, base: CompiledStepBase, compileBlock: CompileBlock): CompiledStep;
}
