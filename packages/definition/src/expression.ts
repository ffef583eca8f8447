import jsonata from "jsonata";
import { isJsonObject } from "./json.ts";
import type { JsonObject } from "./json.ts";

/** A path that an expression reads, from the document's top: names as far as they are written out. */
export type ExpressionPath = readonly [root: string, ...names: string[]];

/** What a JSONata expression reads, or why it is none. */
export type ParsedExpression =
  { ok: true; paths: ExpressionPath[] } | { ok: false; message: string };

/** Parses JSONata without running it. */
export function parseExpression(expression: string): ParsedExpression {
  try {
    return { ok: true, paths: listPaths(jsonata(expression).ast()) };
  } catch (error) {
    return { ok: false, message: describe(error) };
  }
}

/** The parser throws objects with a position, or a RangeError on absurd nesting. */
function describe(error: unknown): string {
  if (error instanceof RangeError) return "is not valid JSONata: it nests too deeply";
  const details: unknown = error;
  const message = isJsonObject(details) ? details["message"] : undefined;
  const position = isJsonObject(details) ? details["position"] : undefined;
  const where = typeof position === "number" ? ` at character ${position}` : "";
  return `is not valid JSONata${where}: ${typeof message === "string" ? message : "it can't be parsed"}`;
}

interface Visit {
  node: unknown;
  /** Whether names are looked up in the document itself, and not in something that was read from it. */
  atTop: boolean;
}

/**
 * Every path that is sure to begin at the top. The rest of a path, its predicates and its grouping see
 * something else; `$$` leads back to the top from everywhere. Walks no call stack.
 */
function listPaths(ast: unknown): ExpressionPath[] {
  const found: ExpressionPath[] = [];
  const pending: Visit[] = [{ node: ast, atTop: true }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node, atTop } = visit;
    if (Array.isArray(node)) {
      pending.push(...node.toReversed().map((item: unknown) => ({ node: item, atTop })));
    } else if (isJsonObject(node) && node["type"] === "path" && Array.isArray(node["steps"])) {
      const steps: readonly unknown[] = node["steps"];
      const path = namesFromTop(steps, atTop);
      if (path !== null) found.push(path);
      const { steps: _steps, ...others } = node;
      pending.push({ node: Object.values(others), atTop: false });
      pending.push({ node: steps.slice(1), atTop: false }, { node: steps[0], atTop });
    } else if (isJsonObject(node)) {
      const isName = node["type"] === "name" || node["type"] === "transform";
      pending.push({ node: Object.values(node), atTop: atTop && !isName });
    }
  }
  return found;
}

/** What a JSONata variable is called that stands for the document, and for what is looked at. */
const TOP = "$";
const CONTEXT = "";

function namesFromTop(steps: readonly unknown[], atTop: boolean): ExpressionPath | null {
  const nodes = steps.filter(isJsonObject);
  const [first] = nodes;
  if (first === undefined) return null;
  const isVariable = first["type"] === "variable";
  const startsAtTop = isVariable
    ? first["value"] === TOP || (atTop && first["value"] === CONTEXT)
    : atTop;
  if (!startsAtTop) return null;
  const [root, ...names] = leadingNames(isVariable ? nodes.slice(1) : nodes);
  return root === undefined ? null : [root, ...names];
}

function leadingNames(nodes: readonly JsonObject[]): string[] {
  const end = nodes.findIndex(({ type }) => type !== "name");
  return (end === -1 ? nodes : nodes.slice(0, end)).map(({ value }) => String(value));
}
