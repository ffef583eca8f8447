import type { createDocument, oas32 } from "zod-openapi";
import { SchemaExamples } from "./schema-examples.ts";
import type { ExampleUse } from "./schema-examples.ts";

/** An OpenAPI document, as the library builds it. */
export type OpenApiDocument = ReturnType<typeof createDocument>;

/** A request that was sent to a real system, and its answer. */
export interface ToldExample {
  readonly operationId: string;
  /** Distinguishes it from other examples of the operation. */
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** JSON, or the text of a file. */
  readonly body?: unknown;
  readonly status: number;
  /** Null without a body. */
  readonly contentType: string | null;
  readonly answer: unknown;
}

type Operation = oas32.OperationObject;
type Media = oas32.MediaTypeObject;
/** An example of a body, by its name. */
type Named = readonly (readonly [name: string, value: unknown])[];

/**
 * Gives every body an example. Recorded requests and answers come first, so that all examples tell
 * one story; the schema yields the others. Parameters get the values of the first recorded request.
 */
export function addExamples(
  document: OpenApiDocument,
  told: readonly ToldExample[],
): OpenApiDocument {
  const made = new SchemaExamples(document.components?.schemas ?? {});
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      if (operation === undefined) continue;
      const own = told.filter(({ operationId }) => operationId === operation.operationId);
      addToParameters(operation, own);
      addToRequest(operation, own, made);
      addToAnswers(operation, own, made);
    }
  }
  return document;
}

function addToParameters(operation: Operation, told: readonly ToldExample[]): void {
  for (const parameter of operation.parameters ?? []) {
    if ("$ref" in parameter) continue;
    const { in: place } = parameter;
    const value = told
      .map(({ params, query }) => (place === "path" ? params : query)[parameter.name])
      .find((each) => each !== undefined);
    if (value !== undefined) parameter.example = asTyped(value, parameter.schema);
  }
}

/** As JSON has it: in an address everything is text. */
function asTyped(value: string, schema: unknown): unknown {
  const type = typeof schema === "object" && schema !== null && "type" in schema && schema.type;
  return type === "integer" || type === "boolean" ? JSON.parse(value) : value;
}

function addToRequest(
  { requestBody }: Operation,
  told: readonly ToldExample[],
  made: SchemaExamples,
): void {
  if (requestBody === undefined || "$ref" in requestBody) return;
  for (const [type, media] of mediaOf(requestBody.content)) {
    const isText = type !== "application/json";
    const bodies = told
      .filter(({ body }) => body !== undefined && isText === (typeof body === "string"))
      .map(({ name, body }) => [name, body] as const);
    addTo(media, bodies, "request", made);
  }
}

function addToAnswers(
  { responses = {} }: Operation,
  told: readonly ToldExample[],
  made: SchemaExamples,
): void {
  for (const [status, response] of Object.entries(responses)) {
    if ("$ref" in response) continue;
    for (const [type, media] of mediaOf(response.content)) {
      const answers = told
        .filter((each) => String(each.status) === status && each.contentType === type)
        .map(({ name, answer }) => [name, answer] as const);
      addTo(media, answers, "answer", made);
    }
  }
}

function addTo(media: Media, told: Named, use: ExampleUse, made: SchemaExamples): void {
  if (told.length > 1) {
    media.examples = Object.fromEntries(told.map(([name, value]) => [name, { value }]));
  } else if (told[0] !== undefined) {
    media.example = told[0][1];
  } else if (media.example === undefined && media.examples === undefined) {
    media.example = made.make(media.schema, use);
  }
}

function mediaOf(content: oas32.ResponseObject["content"] = {}): [string, Media][] {
  return Object.entries(content).flatMap(([type, media]) =>
    "$ref" in media || media.schema === undefined ? [] : [[type, media]],
  );
}
