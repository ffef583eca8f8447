import { z } from "zod";
import type { FieldCondition } from "./field-condition.ts";
import type { InputRelations } from "./input-relations.ts";

/** What a value is, in the words of the block metadata. */
export type InputType = "string" | "number" | "boolean" | "json" | "array" | "file";

/** How a field is shown where a workflow is drawn; says nothing about the value's type. */
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

/** A static choice: the id goes into the configuration, the label is for people. */
export interface InputOption {
  readonly id: string;
  readonly label: string;
}

/** Where a value goes in the provider's request; `none` is for what only `build` reads. */
export type InputPlace = "path" | "query" | "body" | "header" | "none";

/** One input of an action, declared once: its type, its field, and its place in the request. */
export interface ActionInput extends InputRelations {
  /** In the provider's own terms; the key in a step's config, and of the subBlock. */
  readonly key: string;
  readonly type: InputType;
  readonly title: string;
  readonly description?: string | undefined;
  /** Of a value without templates; the block metadata shows it as JSON Schema. No transforms. */
  readonly schema: z.ZodType;
  readonly control: Control;
  readonly options?: readonly InputOption[] | undefined;
  /** Needed whenever the field applies. */
  readonly required?: boolean | undefined;
  /** Needed when the field applies and this holds. */
  readonly requiredWhen?: FieldCondition | undefined;
  /** When the field applies; always where it is not given. */
  readonly visibleWhen?: FieldCondition | undefined;
  /** Default: `query` for GET and DELETE, `body` for the rest; `path` where the path names the key. */
  readonly in?: InputPlace | undefined;
  /**
   * The provider's name when it is not the key; dots make nested objects: `billing.address`. Empty: the
   * members of an object become members of the body.
   */
  readonly as?: string | undefined;
  /** What stands between several values that are sent as one text. */
  readonly join?: string | undefined;
}

/** What may be said of an input beyond its kind. */
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
  return input(key, "string", schema, "short-input", rest);
}

/** A number, by default any. */
export function number(
  key: string,
  traits: InputTraits & { schema?: z.ZodNumber | z.ZodInt } = {},
): ActionInput {
  const { schema = z.number(), ...rest } = traits;
  return input(key, "number", schema, "short-input", rest);
}

/** Yes or no. */
export function flag(key: string, traits: InputTraits = {}): ActionInput {
  return input(key, "boolean", z.boolean(), "switch", traits);
}

/** One of some texts: ids with labels, or ids alone, which are shown as they are. */
export function choice(
  key: string,
  options: readonly (InputOption | string)[],
  traits: InputTraits = {},
): ActionInput {
  const choices = options.map((option) =>
    typeof option === "string" ? { id: option, label: option } : option,
  );
  const schema = z.enum(choices.map(({ id }) => id));
  return { ...input(key, "string", schema, "dropdown", traits), options: choices };
}

/**
 * Several values of one kind; by default texts. `min` is how many at least: one where the list is required,
 * for an empty one is nothing given, else none.
 */
export function list(
  key: string,
  traits: InputTraits & { of?: z.ZodType; min?: number } = {},
): ActionInput {
  const { of = z.string(), min = leastOf(traits), ...rest } = traits;
  return input(key, "array", atLeast(z.array(of), min), "table", rest);
}

function leastOf({ required = false, requiredWhen }: InputTraits): number {
  return required || requiredWhen !== undefined ? 1 : 0;
}

function atLeast<T extends z.ZodType>(schema: z.ZodArray<T>, min: number): z.ZodArray<T> {
  return min === 0 ? schema : schema.min(min);
}

/** An object, or what its schema says. */
export function json(key: string, traits: InputTraits & { schema?: z.ZodType } = {}): ActionInput {
  const { schema = z.record(z.string(), z.unknown()), ...rest } = traits;
  return input(key, "json", schema, "code", rest);
}

/** Both become headers of an e-mail, which a line break would add to. */
const NO_CONTROLS = /^\P{Cc}+$/u;
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:;[\x20-\x7e]*)?$/;

/** Files: `{filename, content (base64) or url, contentType?}` each; at least one where they are required. */
export function files(key: string, traits: InputTraits = {}): ActionInput {
  const facts = {
    filename: z.string().min(1).max(255).regex(NO_CONTROLS, "must not have control characters"),
    contentType: z.string().max(255).regex(MEDIA_TYPE, "must be a media type").optional(),
  };
  const file = z.union(
    [z.strictObject({ ...facts, content: z.base64() }), z.strictObject({ ...facts, url: z.url() })],
    "must be {filename, content} with content in base64, or {filename, url}",
  );
  return input(key, "file", atLeast(z.array(file), leastOf(traits)), "file-upload", traits);
}

function input(
  key: string,
  type: InputType,
  schema: z.ZodType,
  control: Control,
  traits: InputTraits,
): ActionInput {
  return { key, type, title: titleOf(key), schema, control, ...traits };
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
