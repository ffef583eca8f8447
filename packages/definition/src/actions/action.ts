import type { z } from "zod";

/** The inputs of an action. The service that runs the action defines its effect. */
export interface ActionDefinition {
  /** `<block>.<name>`, as in a step's `action`. */
  readonly id: string;
  /** For people: a name, and what the action does. */
  readonly title: string;
  readonly description: string;
  /** A loose object: keys that an older client does not know are kept. Templates are accepted. */
  readonly inputs: z.ZodType;
  /** Names of the output's members; empty when the output is whatever the call brings. */
  readonly outputs: readonly string[];
  /** For an action that takes a text with placeholders of its own. */
  readonly textTemplate?: TextTemplateInputs;
}

/** The inputs that hold a text with placeholders and what they stand for; see `renderText`. */
export interface TextTemplateInputs {
  readonly template: string;
  readonly values: string;
}
