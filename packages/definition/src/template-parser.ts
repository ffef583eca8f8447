/**
 * The template grammar (D19). A path, never a program:
 *
 *     template = "{{" ws root segment* ws "}}"
 *     segment  = "." name | "[" digits "]" | "[" string "]"
 *     name     = a letter, digit, "_" or "$", then also "-"     (UUIDs and column ids are names)
 *     string   = JSON string, in double or single quotes
 *
 * `\{{` stands for the two braces themselves; `\\{{` is a backslash before a template.
 */

/** The source of a template's value. */
export const TEMPLATE_ROOTS = ["input", "steps", "secrets", "trigger", "run", "loop"] as const;
export type TemplateRoot = (typeof TEMPLATE_ROOTS)[number];

/** One parsed template. Segments are property names; array indices are decimal strings. */
export interface TemplatePath {
  root: TemplateRoot;
  segments: readonly string[];
}

/** Literal text and templates in the order of the string. */
export type TextPart = string | TemplatePath;

export interface ParsedText<Template = TemplatePath> {
  parts: (string | Template)[];
  /** The problems, one sentence for each template, at most ten. Parts are incomplete when there are any. */
  problems: string[];
}

const NAME = /[\p{L}\p{N}\p{M}_$][\p{L}\p{N}\p{M}_$-]*/uy;
const DIGITS = /(?:0|[1-9][0-9]{0,9})(?=\s*\])/y;
const SPACES = /\s*/y;
/** A bad template may be read to the end of the text, so many of them would take quadratic time. */
const PROBLEMS_MAX = 10;
/** The most characters of a bad template that a message quotes. */
const QUOTE_CHARS_MAX = 60;

/** Splits a string into literal text and templates. Linear in the text; never throws. */
export function parseTemplateText(text: string): ParsedText {
  return splitText(text, parseTemplate);
}

/** Reads the template that opens at a position. Returns a sentence for an invalid one. */
export type ReadTemplate<Template> = (
  text: string,
  open: number,
) => { template: Template; end: number } | string;

/** Like `parseTemplateText`, for templates that `read` knows. */
export function splitText<Template extends object>(
  text: string,
  read: ReadTemplate<Template>,
): ParsedText<Template> {
  const parts: (string | Template)[] = [];
  const problems: string[] = [];
  let literal = "";
  let position = 0;
  for (;;) {
    const open = text.indexOf("{{", position);
    if (open === -1) break;
    const backslashes = countBackslashes(text, open, position);
    literal += text.slice(position, open - backslashes);
    // Only one or two backslashes are an escape; more are text, as in the name of a Windows share.
    if (backslashes === 1) {
      literal += "{{";
      position = open + 2;
      continue;
    }
    literal += backslashes === 2 ? "\\" : "\\".repeat(backslashes);
    const found = read(text, open);
    if (typeof found === "string") {
      problems.push(found);
      if (problems.length === PROBLEMS_MAX) break;
      position = open + 2;
      continue;
    }
    if (literal !== "") parts.push(literal);
    literal = "";
    parts.push(found.template);
    position = found.end;
  }
  literal += text.slice(position);
  if (literal !== "" || parts.length === 0) parts.push(literal);
  return { parts, problems };
}

function countBackslashes(text: string, end: number, start: number): number {
  let count = 0;
  while (end - count > start && text[end - count - 1] === "\\") count += 1;
  return count;
}

/** Whether templates may begin with this name. */
export function isTemplateRoot(name: string): name is TemplateRoot {
  return TEMPLATE_ROOTS.some((known) => known === name);
}

/** Parses the template that opens at `open`. Returns a sentence for an invalid one. */
export function parseTemplate(
  text: string,
  open: number,
): { template: TemplatePath; end: number } | string {
  const start = skip(SPACES, text, open + 2);
  const name = match(NAME, text, start);
  if (name === "") {
    return syntaxProblem(text, open, `a template starts with one of ${TEMPLATE_ROOTS.join(", ")}`);
  }
  if (!isTemplateRoot(name)) {
    return syntaxProblem(
      text,
      open,
      `unknown root "${name.slice(0, QUOTE_CHARS_MAX)}"; known are ${TEMPLATE_ROOTS.join(", ")}`,
    );
  }
  const path = parsePath(text, open, start + name.length);
  if (typeof path === "string") return path;
  const { segments, end } = path;
  const shape = shapeProblem(name, segments);
  if (shape !== null) return syntaxProblem(text, open, shape);
  return { template: { root: name, segments }, end };
}

/** Parses a name and the path behind it: `name.a[0]`. Returns a sentence for an invalid path. */
export function parseNamedPath(
  text: string,
  open: number,
): { segments: [string, ...string[]]; end: number } | string {
  const start = skip(SPACES, text, open + 2);
  const name = match(NAME, text, start);
  if (name === "") return syntaxProblem(text, open, "it starts with a name");
  const path = parsePath(text, open, start + name.length);
  return typeof path === "string" ? path : { segments: [name, ...path.segments], end: path.end };
}

/** The quoted string between the braces; null where there is none. */
export function parseLiteral(text: string, open: number): { value: string; end: number } | null {
  const quoted = parseQuoted(text, skip(SPACES, text, open + 2));
  if (quoted === null) return null;
  const end = skip(SPACES, text, quoted.end);
  return text.startsWith("}}", end) ? { value: quoted.name, end: end + 2 } : null;
}

/** The segments from a position on, and the closing braces. */
function parsePath(
  text: string,
  open: number,
  start: number,
): { segments: string[]; end: number } | string {
  let position = start;
  const segments: string[] = [];
  for (;;) {
    const segment = parseSegment(text, position);
    if (segment === null) break;
    segments.push(segment.name);
    position = segment.end;
  }
  position = skip(SPACES, text, position);
  if (text.startsWith("}}", position)) return { segments, end: position + 2 };
  return syntaxProblem(
    text,
    open,
    `expected ".name", "[0]", '["key"]' or "}}" at character ${position - open + 1}; a template is a path, not an expression`,
  );
}

/** Templates read members of `steps` and `secrets` by name, never the whole object. */
function shapeProblem(root: TemplateRoot, segments: readonly string[]): string | null {
  if (root === "steps" && segments.length === 0) {
    return "name a step, as in {{steps.<stepId>.output}}";
  }
  if (root === "secrets" && segments.length !== 1) {
    return "a secret is one text, as in {{secrets.KEY}}";
  }
  return null;
}

function parseSegment(text: string, position: number): { name: string; end: number } | null {
  if (text[position] === ".") {
    const name = match(NAME, text, position + 1);
    return name === "" ? null : { name, end: position + 1 + name.length };
  }
  if (text[position] !== "[") return null;
  const start = skip(SPACES, text, position + 1);
  const digits = match(DIGITS, text, start);
  const key =
    digits === "" ? parseQuoted(text, start) : { name: digits, end: start + digits.length };
  if (key === null) return null;
  const end = skip(SPACES, text, key.end);
  return text[end] === "]" ? { name: key.name, end: end + 1 } : null;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
const UNICODE_ESCAPE = /u[0-9a-fA-F]{4}/y;

function parseQuoted(text: string, start: number): { name: string; end: number } | null {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") return null;
  let name = "";
  let position = start + 1;
  while (position < text.length) {
    const char = text.charAt(position);
    if (char === quote) return { name, end: position + 1 };
    if (char !== "\\") {
      name += char;
      position += 1;
      continue;
    }
    const unicode = match(UNICODE_ESCAPE, text, position + 1);
    const escaped =
      unicode === ""
        ? ESCAPES.get(text.charAt(position + 1))
        : String.fromCharCode(Number.parseInt(unicode.slice(1), 16));
    if (escaped === undefined) return null;
    name += escaped;
    position += unicode === "" ? 2 : 6;
  }
  return null;
}

function syntaxProblem(text: string, open: number, what: string): string {
  const close = text.indexOf("}}", open);
  const whole = text.slice(open, close === -1 ? text.length : close + 2);
  const quoted =
    whole.length > QUOTE_CHARS_MAX ? `${whole.slice(0, QUOTE_CHARS_MAX).trimEnd()}…` : whole;
  const unclosed = close === -1 ? ' and is not closed by "}}"' : "";
  return `The template ${quoted} is not valid${unclosed}: ${what}. To write the braces themselves use \\{{.`;
}

/** The match of a sticky pattern at a position, or "". */
function match(pattern: RegExp, text: string, position: number): string {
  pattern.lastIndex = position;
  return pattern.exec(text)?.[0] ?? "";
}

function skip(pattern: RegExp, text: string, position: number): number {
  return position + match(pattern, text, position).length;
}
