import type { createDocument, oas32 } from "zod-openapi";
import { SchemaExamples } from "./schema-examples.ts";
import type { ExampleUse } from "./schema-examples.ts";

/** An OpenAPI document, as the library makes it. */
export type OpenApiDocument = ReturnType<typeof createDocument>;

/** Gives every body that has a schema and no example one, made by the schema. */
export function addExamples(document: OpenApiDocument): OpenApiDocument {
  const examples = new SchemaExamples(document.components?.schemas ?? {});
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      if (operation === undefined) continue;
      addTo(operation.requestBody, "request", examples);
      for (const response of Object.values(operation.responses ?? {})) {
        addTo(response, "answer", examples);
      }
    }
  }
  return document;
}

function addTo(
  holder: oas32.RequestBodyObject | oas32.ResponseObject | oas32.ReferenceObject | undefined,
  use: ExampleUse,
  examples: SchemaExamples,
): void {
  if (holder === undefined || !("content" in holder)) return;
  for (const media of Object.values(holder.content ?? {})) {
    if ("$ref" in media || media.schema === undefined) continue;
    if (media.example !== undefined || media.examples !== undefined) continue;
    media.example = examples.make(media.schema, use);
  }
}
