import type { ApiDocument, DocumentedOperation, Schema } from "./document.ts";
import { upperFirst } from "./names.ts";

/** POSTs that only read, so that they may be sent twice. */
const READING_POSTS = new Set(["planWorkflow", "queryRows", "queryValues", "aggregateRows"]);

/** The code of one operation, and the types that it names. */
export interface OperationCode {
  code: string;
  types: readonly string[];
}

/** What an operation takes and gives, in TypeScript. */
interface Signature {
  parameters: string[];
  /** The members of the call's object. */
  members: string[];
  types: Set<string>;
}

/** A function that makes the call of one operation. */
export function printOperation(
  document: ApiDocument,
  operation: DocumentedOperation,
): OperationCode {
  const { operationId, method, path } = operation;
  const signature: Signature = {
    parameters: ["api: Api"],
    members: [`method: "${method.toUpperCase()}"`, `path: "${path}"`],
    types: new Set(),
  };
  addPath(operation, signature);
  const queryInOptions = addBodyAndQuery(operation, signature);
  const headers = headersOf(document, operation);
  if (headers.has("Idempotency-Key")) signature.members.push("keyed: true");
  if (READING_POSTS.has(operationId)) signature.members.push("repeatable: true");
  const options = ["CallOptions"];
  if (headers.has("If-Match")) options.push("IfMatch");
  if (headers.has("Idempotency-Key")) options.push("Idempotent");
  if (queryInOptions !== null) options.push(`{ query?: ${queryInOptions} }`);
  signature.parameters.push(`options?: ${options.join(" & ")}`);
  const { helper, result, types } = resultOf(operation, signature);
  const code = `${comment(operation)}
export function ${operationId}(${signature.parameters.join(", ")}): ${result} {
  return ${helper}(api, { ${signature.members.join(", ")} }, options);
}
`;
  return { code, types: [...signature.types, ...types] };
}

/** A comment of one operation, for its function and for its name in a client. */
export function comment({ summary, description = "" }: DocumentedOperation): string {
  const text = [`${summary}.`, ...description.split(/\n+/)].filter((line) => line !== "");
  const lines = text.map((line) => ` * ${line.replaceAll("*/", "* /").trim()}`);
  return `/**\n${lines.join("\n *\n")}\n */`;
}

function addPath({ path }: DocumentedOperation, { parameters, members }: Signature): void {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  if (names.length === 0) return;
  for (const name of names) {
    parameters.push(`${name}: ${name === "version" ? "number" : "string"}`);
  }
  members.push(`params: { ${names.join(", ")} }`);
}

/** Returns the type of a query that stands among the options, since there is a body. */
function addBodyAndQuery(operation: DocumentedOperation, signature: Signature): string | null {
  const { operationId, requestBody, parameters = [] } = operation;
  const { types, members } = signature;
  const data = `${upperFirst(operationId)}Data`;
  const json = requestBody?.content["application/json"]?.schema;
  const hasBody = requestBody !== undefined && !isEmptyObject(json);
  const query = parameters.filter((each) => each.in === "query");
  if (hasBody) {
    const isRequired = requestBody.required === true;
    const component = componentOf(json);
    const text = Object.keys(requestBody.content).find((each) => each.startsWith("text/"));
    const type = component ?? `NonNullable<${data}["body"]>`;
    types.add(component ?? data);
    const orText = text === undefined ? "" : " | string";
    signature.parameters.push(`body${isRequired ? "" : "?"}: ${type}${orText}`);
    members.push("body");
    if (text !== undefined) members.push(`textType: "${text}"`);
  }
  if (query.length === 0) return null;
  types.add(data);
  const type = `Query<${data}>`;
  if (hasBody) return type;
  const isRequired = query.some((each) => each.required === true);
  signature.parameters.push(`query${isRequired ? "" : "?"}: ${type}`);
  members.push("query");
  return null;
}

function headersOf(document: ApiDocument, { parameters = [] }: DocumentedOperation): Set<string> {
  return new Set(
    parameters.flatMap((each) => {
      const name = each.$ref?.split("/").at(-1);
      const found = name === undefined ? undefined : document.components.parameters[name];
      return found === undefined ? [] : [found.name];
    }),
  );
}

interface Result {
  /** What makes the call. */
  helper: string;
  result: string;
  types: string[];
}

function resultOf({ operationId, responses }: DocumentedOperation, { members }: Signature): Result {
  const good = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const contents = good.flatMap(([, response]) => Object.entries(response.content ?? {}));
  if (contents.some(([type]) => type !== "application/json")) {
    members.push(`accept: "*/*"`);
    return { helper: "callForStream", result: "Promise<ReadableStream<Uint8Array>>", types: [] };
  }
  const schemas = contents.flatMap(([, { schema }]) => (schema === undefined ? [] : [schema]));
  const [data, ...others] = schemas.map((schema) => member(schema, "data"));
  const response = `${upperFirst(operationId)}Response`;
  const meta = componentOf(member(schemas[0], "meta"));
  const itemsMember = data?.type === "array" ? null : meta;
  if (data?.type === "array" || itemsMember !== null) {
    return listResult({ response, data, meta }, members);
  }
  const component = others.length === 0 ? componentOf(data) : null;
  if (component !== null) {
    return { helper: "call", result: `Promise<${component}>`, types: [component] };
  }
  return { helper: "call", result: `Promise<${response}["data"]>`, types: [response] };
}

interface ListShape {
  response: string;
  data: Schema | undefined;
  /** The component of `meta`; null for lists of one page. */
  meta: string | null;
}

/** Items are the data, or the member of it that is named after the operation: `listVersions` has `versions`. */
function listResult({ response, data, meta }: ListShape, members: string[]): Result {
  const name = response.replace(/^List|Response$/g, "").toLowerCase();
  const isPlain = data?.type === "array";
  if (!isPlain) members.push(`items: "${name}"`);
  const component = isPlain ? componentOf(data.items) : null;
  const item = component ?? `${response}["data"]${isPlain ? "" : `["${name}"]`}[number]`;
  const types = [component ?? response, ...(meta === null ? [] : [meta])];
  return {
    helper: "list",
    result: meta === null ? `List<${item}>` : `List<${item}, ${meta}>`,
    types,
  };
}

function isEmptyObject(schema: Schema | undefined): boolean {
  return schema?.type === "object" && Object.keys(schema.properties ?? {}).length === 0;
}

function member(schema: Schema | undefined, name: string): Schema | undefined {
  return schema?.properties?.[name];
}

/** The name of the component that a schema refers to; null for others. */
function componentOf(schema: Schema | undefined): string | null {
  return schema?.$ref?.split("/").at(-1) ?? null;
}
