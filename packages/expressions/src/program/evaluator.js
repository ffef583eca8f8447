// @ts-check
/**
 * The program of an evaluator. It reaches its process as text, after that of JSONata, so that the
 * process needs no file (ADR 0009); so it imports nothing.
 *
 * @import { ExpressionPath, ParsedExpression } from "@workflow/definition"
 * @import { Expression } from "jsonata"
 * @import { EvaluationRequest, EvaluatorMessage, EvaluatorRequest, EvaluatorResponse } from "../protocol.ts"
 */

/** Characters of one message that the service gets to see; it hides secrets and cuts afterwards. */
const MESSAGE_CHARS_MAX = 65_536;

/**
 * Characters of source whose compiled form is kept, of all companies together. A compiled expression
 * takes up to 80 times its text (`a?b:a?b:…`); so this is some 10 MiB of the heap at most.
 */
const COMPILED_CHARS_MAX = 131_072;

const { process, setImmediate } = globalThis;
/** @type {typeof import("jsonata")} */
const jsonata = Reflect.get(globalThis, "jsonata");

// The same everywhere, whatever the machine's time zone is.
process.env["TZ"] = "UTC";
leaveOnlyTheLanguage();
/** @type {EvaluatorRequest[]} */
let waiting = [];
let busy = false;
process.on("message", (/** @type {EvaluatorMessage} */ message) => {
  if (message === "drop") {
    waiting = [];
    process.send?.("dropped");
    return;
  }
  waiting.push(...message);
  if (!busy) void answerInOrder();
});
process.on("disconnect", () => process.exit());
process.send?.("ready");

/**
 * Takes away all that Node has added to the language, such as `process` and `fetch`. JSONata offers
 * none of it; this is for the day on which an expression gets out of JSONata.
 */
function leaveOnlyTheLanguage() {
  const vm = process.getBuiltinModule("node:vm");
  const names = vm.runInNewContext("Object.getOwnPropertyNames(globalThis).join()");
  const kept = new Set([...String(names).split(","), "global", "Buffer"]);
  for (const name of ["WebAssembly", "console"]) kept.delete(name);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!kept.has(name)) Reflect.deleteProperty(globalThis, name);
  }
}

async function answerInOrder() {
  busy = true;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const response = await answer(next);
    // Once sent: the next expression may be this process's last. And a "drop" that came meanwhile
    // is heard before the next is begun.
    await new Promise((resolve) => process.send?.(response, () => setImmediate(resolve)));
  }
  busy = false;
}

/**
 * @param {EvaluatorRequest} request
 * @returns {Promise<EvaluatorResponse>}
 */
async function answer(request) {
  if (request.kind === "parse") {
    return { id: request.id, ok: true, kind: "parse", parsed: parse(request.expression) };
  }
  try {
    return await evaluate(request);
  } catch (error) {
    return failure(request.id, "EXPRESSION_FAILED", failureMessage(error));
  }
}

/**
 * @param {EvaluationRequest} request
 * @returns {Promise<EvaluatorResponse>}
 */
async function evaluate({ id, expression, input, outputCharsMax }) {
  /** @type {unknown} */
  const result = await compile(expression).evaluate(JSON.parse(input));
  const output = toJson(result);
  if (output.length > outputCharsMax) {
    return failure(id, "OUTPUT_TOO_LARGE", "The result of the expression is too large.");
  }
  return { id, ok: true, kind: "evaluate", output };
}

/**
 * JSONata's `undefined` (nothing matched) is JSON's null. Functions have no JSON form: they are left out
 * of objects, and null elsewhere. Results hardly ever have any, so the others are not gone through twice.
 *
 * @param {unknown} result
 */
function toJson(result) {
  try {
    const text = JSON.stringify(result) ?? "null";
    if (!text.includes('"_jsonata_')) return text;
  } catch (error) {
    // A function of JSONata refers to what is around it, and that to the function.
    if (!(error instanceof TypeError)) throw error;
  }
  return JSON.stringify(result, (_, value) => (isFunction(value) ? undefined : value)) ?? "null";
}

/** @param {unknown} value */
function isFunction(value) {
  return isObject(value) && ("_jsonata_lambda" in value || "_jsonata_function" in value);
}

/**
 * @param {number} id
 * @param {"EXPRESSION_FAILED" | "OUTPUT_TOO_LARGE"} code
 * @param {string} message
 * @returns {EvaluatorResponse}
 */
function failure(id, code, message) {
  return { id, ok: false, code, message: message.slice(0, MESSAGE_CHARS_MAX) };
}

/**
 * JSONata throws plain objects with message, code and position. The position comes first, so that what
 * is cut off at the end, or left out for a secret in it, leaves it in place.
 *
 * @param {unknown} error
 */
function failureMessage(error) {
  const { message, position } = isObject(error) ? error : {};
  const where = typeof position === "number" ? ` at character ${position}` : "";
  return `The expression failed${where}: ${typeof message === "string" ? message : "unknown error."}`;
}

/** @type {Map<string, Expression>} In the order of their last use. */
const compiled = new Map();
let compiledChars = 0;

/** @param {string} source */
function compile(source) {
  const known = compiled.get(source);
  const expression = known ?? jsonata(source);
  if (known === undefined) compiledChars += source.length;
  else compiled.delete(source);
  compiled.set(source, expression);
  for (const oldest of compiled.keys()) {
    if (compiledChars <= COMPILED_CHARS_MAX) break;
    compiled.delete(oldest);
    compiledChars -= oldest.length;
  }
  return expression;
}

/**
 * @param {string} source
 * @returns {ParsedExpression}
 */
function parse(source) {
  try {
    return { ok: true, paths: listPaths(jsonata(source).ast()) };
  } catch (error) {
    return { ok: false, message: syntaxProblem(error).slice(0, MESSAGE_CHARS_MAX) };
  }
}

/**
 * The parser throws objects with a position, or a RangeError on absurd nesting.
 *
 * @param {unknown} error
 */
function syntaxProblem(error) {
  if (error instanceof RangeError) return "is not valid JSONata: it nests too deeply";
  const details = isObject(error) ? error : {};
  const { message, position } = details;
  const where = typeof position === "number" ? ` at character ${position}` : "";
  return `is not valid JSONata${where}: ${typeof message === "string" ? message : "it can't be parsed"}`;
}

/**
 * Every path that is sure to begin at the top, each once. The rest of a path, its predicates and its
 * grouping see something else; `$$` leads back to the top from everywhere. Walks no call stack.
 *
 * @param {unknown} ast
 * @returns {ExpressionPath[]}
 */
function listPaths(ast) {
  /** @type {Map<string, ExpressionPath>} */
  const found = new Map();
  /**
   * `atTop`: whether names are looked up in the document itself, not in something read from it.
   *
   * @type {{ node: unknown, atTop: boolean }[]}
   */
  const pending = [{ node: ast, atTop: true }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { node, atTop } = visit;
    if (Array.isArray(node)) {
      for (const item of node.toReversed()) pending.push({ node: item, atTop });
    } else if (isObject(node) && node["type"] === "path" && Array.isArray(node["steps"])) {
      const { steps, ...others } = node;
      const path = namesFromTop(steps, atTop);
      if (path !== null) found.set(JSON.stringify(path), path);
      pending.push({ node: Object.values(others), atTop: false });
      pending.push({ node: steps.slice(1), atTop: false }, { node: steps[0], atTop });
    } else if (isObject(node)) {
      const isName = node["type"] === "name" || node["type"] === "transform";
      pending.push({ node: Object.values(node), atTop: atTop && !isName });
    }
  }
  return [...found.values()];
}

/**
 * What a JSONata variable is called that stands for the document is `$`; for what is looked at, "".
 *
 * @param {readonly unknown[]} steps
 * @param {boolean} atTop
 * @returns {ExpressionPath | null}
 */
function namesFromTop(steps, atTop) {
  const nodes = steps.filter(isObject);
  const [first] = nodes;
  if (first === undefined) return null;
  const isVariable = first["type"] === "variable";
  const startsAtTop = isVariable
    ? first["value"] === "$" || (atTop && first["value"] === "")
    : atTop;
  if (!startsAtTop) return null;
  const [root, ...names] = leadingNames(isVariable ? nodes.slice(1) : nodes);
  return root === undefined ? null : [root, ...names];
}

/**
 * @param {readonly Record<string, unknown>[]} nodes
 * @returns {string[]}
 */
function leadingNames(nodes) {
  const end = nodes.findIndex(({ type }) => type !== "name");
  return (end === -1 ? nodes : nodes.slice(0, end)).map(({ value }) => String(value));
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
