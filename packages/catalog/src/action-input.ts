import { z } from "zod";
import type { FieldCondition } from "./field-condition.ts";
import type { InputRelations } from "./input-relations.ts";

/** The kinds of values, in the words of the block metadata. */
export type InputType = "string" | "number" | "boolean" | "json" | "array" | "file";

/** The control of a field in the editor. The value's type does not depend on the control. */
export type Control =
  | "short-input"
  | "long-input"
  | "combobox"
  | "dropdown"
  | "switch"
  | "code"
  | "table"
  | "file-upload"
  | "connection";

/** A static option: the configuration holds the id, and people see the label. */
export interface InputOption {
  readonly id: string;
  readonly label: string;
}

/** The place of a value in the provider's request. `none` is for inputs that only `build` reads. */
export type InputPlace = "path" | "query" | "body" | "header" | "none";

/** One input of an action: its type, its field, and its place in the request. */
export interface ActionInput extends InputRelations {
  /** The key in a step's config and of the subBlock, in the provider's own terms. */
  readonly key: string;
  readonly type: InputType;
  readonly title: string;
  readonly description?: string | undefined;
  /**
   * The schema of a value without templates; the block metadata shows it as JSON Schema. Transforms are not
   * allowed.
   */
  readonly schema: z.ZodType;
  readonly control: Control;
  readonly options?: readonly InputOption[] | undefined;
  /** Whether the input is required whenever the field applies. */
  readonly required?: boolean | undefined;
  /** The condition under which the input is required, while the field applies. */
  readonly requiredWhen?: FieldCondition | undefined;
  /** The condition under which the field applies; always by default. */
  readonly visibleWhen?: FieldCondition | undefined;
  /** Default: `query` for GET and DELETE, `body` for the rest; `path` where the path names the key. */
  readonly in?: InputPlace | undefined;
  /**
   * The provider's name, where it differs from the key. Dots make nested objects: `billing.address`. An empty
   * name adds the members of an object to the body.
   */
  readonly as?: string | undefined;
  /** The separator of several values that are sent as one text. */
  readonly join?: string | undefined;
}

/** The options of an input besides its kind. */
export type InputTraits = Partial<
  Pick<
    ActionInput,
    | "title"
    | "description"
    | "control"
    | "required"
    | "requiredWhen"
    | "visibleWhen"
    | keyof InputRelations
    | "in"
    | "as"
    | "join"
  >
>;

/** A text; one line unless `control` says otherwise. An empty text counts as missing. */
export function text(
  key: string,
  traits: InputTraits & { schema?: z.ZodType<string> } = {},
): ActionInput {
  const { schema = z.string(), ...rest } = traits;
  return input(key, { type: "string", schema, control: "short-input", ...rest });
}

/** A number, by default any. */
export function number(
  key: string,
  traits: InputTraits & { schema?: z.ZodNumber | z.ZodInt } = {},
): ActionInput {
  const { schema = z.number(), ...rest } = traits;
  return input(key, { type: "number", schema, control: "short-input", ...rest });
}

/** Yes or no. */
export function flag(key: string, traits: InputTraits = {}): ActionInput {
  return input(key, { type: "boolean", schema: z.boolean(), control: "switch", ...traits });
}

/** One of several texts: ids with labels, or ids alone, which serve as labels. */
export function choice(
  key: string,
  options: readonly (InputOption | string)[],
  traits: InputTraits = {},
): ActionInput {
  const choices = options.map((option) =>
    typeof option === "string" ? { id: option, label: option } : option,
  );
  const schema = z.enum(choices.map(({ id }) => id));
  return {
    ...input(key, { type: "string", schema, control: "dropdown", ...traits }),
    options: choices,
  };
}

/**
 * Several values of one kind, by default texts. `min` is the least number of values. By default a required
 * list needs one value, since an empty list counts as absent.
 */
export function list(
  key: string,
  traits: InputTraits & { of?: z.ZodType; min?: number } = {},
): ActionInput {
  const { of = z.string(), min = leastOf(traits), ...rest } = traits;
  return input(key, {
    type: "array",
    schema: atLeast(z.array(of), min),
    control: "table",
    ...rest,
  });
}

function leastOf({ required = false, requiredWhen }: InputTraits): number {
  return required || requiredWhen !== undefined ? 1 : 0;
}

function atLeast<T extends z.ZodType>(schema: z.ZodArray<T>, min: number): z.ZodArray<T> {
  return min === 0 ? schema : schema.min(min);
}

/** An object, or the type of its schema. */
export function json(key: string, traits: InputTraits & { schema?: z.ZodType } = {}): ActionInput {
  const { schema = z.record(z.string(), z.unknown()), ...rest } = traits;
  return input(key, { type: "json", schema, control: "code", ...rest });
}

/** Both become headers of an e-mail, and a line break would begin another header. */
const NO_CONTROLS = /^\P{Cc}+$/u;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[\x20-\x7e]*)?$/;

/** Files: `{filename, content (base64) or url, contentType?}` each. A required input needs at least one. */
export function files(key: string, traits: InputTraits = {}): ActionInput {
  const facts = {
    filename: z.string().min(1).max(255).regex(NO_CONTROLS, "must not have control characters"),
    contentType: z.string().max(255).regex(MEDIA_TYPE, "must be a media type").optional(),
  };
  const file = z.union(
    [z.strictObject({ ...facts, content: z.base64() }), z.strictObject({ ...facts, url: z.url() })],
    "must be {filename, content} with content in base64, or {filename, url}",
  );
  return input(key, {
    type: "file",
    schema: atLeast(z.array(file), leastOf(traits)),
    control: "file-upload",
    ...traits,
  });
}

function input(
  key: string,
  facts: Pick<ActionInput, "type" | "schema" | "control"> & InputTraits,
): ActionInput {
  return { key, title: titleOf(key), ...facts };
}

/** `customer_id` and `customerId` become `Customer id`. */
function titleOf(key: string): string {
  const words = key
    .replaceAll(/[_.-]+/g, " ")
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
