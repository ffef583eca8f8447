import { createDocument } from "zod-openapi";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Route } from "../route-table-entry.ts";
import { addExamples } from "./add-examples.ts";
import type { OpenApiDocument, ToldExample } from "./add-examples.ts";
import { answerObjects } from "./answer-objects.ts";
import { HEADERS } from "./headers.ts";
import { toOperation } from "./operation.ts";
import { inboundComponents } from "./inbound-paths.ts";
import { originPaths } from "./origin-paths.ts";
import { REQUEST_HEADERS } from "./parameters.ts";
import { ERROR_SCHEMA, errorComponents } from "./responses.ts";
import { TAGS } from "./tags.ts";
import { webhooksOf } from "./webhooks.ts";
import type { WebhookEventType } from "./webhooks.ts";

/** The version of the API in the description (the contract's "Versioning"). */
const API_VERSION = "1.0.0";

const DESCRIPTION = `Workflows of a company: a trigger and steps in order, started by the API, by webhooks or by a
schedule, with a record of every step of every run.

**Answers.** A success is \`{"success": true, "data": …, "meta"?: …}\`, a refusal or failure
\`{"success": false, "error": {"code", "message", "details"?, "requestId"}}\`. Timestamps are ISO 8601 in UTC with
milliseconds. Members may be added to answers; those described here stay.

**Credentials.** Programs send an API key as \`x-api-key\`, people sign in and have a cookie. A company sees its own
objects only: those of others are 404. What a caller may do is said by scopes.

**Lists** with a cursor are newest first. \`meta.cursor\` is sent back as \`cursor\` for the next page, with the same
filters.

**Limits** count per key or person and minute, apart for reading (1,000), writing (100) and executing (500), unless the
operator has set others. Beyond them the answer is 429 with \`Retry-After\`.`;

/** The content of the description. */
export interface Described {
  /** The route table, by the names of its operations. */
  operations: Readonly<Record<string, Route>>;
  /** The events that webhook endpoints receive. */
  eventTypes: readonly WebhookEventType[];
  /** Recorded requests and answers of one story, shown as examples. */
  examples: readonly ToldExample[];
}

/** Describes the API as OpenAPI 3.1, with every word about an operation from the route table. */
export function createOpenApiDocument({
  operations,
  eventTypes,
  examples,
}: Described): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const [operationId, route] of Object.entries(operations)) {
    const operation = toOperation(operationId, route);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  const inbound = inboundComponents();
  const document = createDocument({
    openapi: "3.1.1",
    info: {
      title: "Workflow automation API",
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: "/api/v1", description: "This server." }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths: { ...paths, ...originPaths() },
    webhooks: webhooksOf(eventTypes),
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description:
            "`wfk_` and 32 characters; see `POST /auth/api-keys`. The scopes are the key's.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "wfs_session",
          description:
            "Set by `POST /auth/session`. The scopes are those of the person's role. Changes need an `Origin` of this server.",
        },
      },
      headers: HEADERS,
      parameters: REQUEST_HEADERS,
      schemas: { Error: ERROR_SCHEMA, ...inbound.schemas },
      responses: { ...errorComponents(Object.values(operations)), ...inbound.responses },
    },
  });
  openAnswers(document);
  dropEmptyDefaults(document);
  return addExamples(document, examples);
}

/**
 * An empty text in an address means no value: neither readers nor generated clients should see it
 * as a default.
 */
function dropEmptyDefaults({ paths = {} }: OpenApiDocument): void {
  for (const item of Object.values(paths)) {
    for (const operation of [item.get, item.post, item.put, item.patch, item.delete]) {
      for (const parameter of operation?.parameters ?? []) {
        if ("$ref" in parameter) continue;
        const { schema } = parameter;
        if (typeof schema === "object" && "default" in schema && schema.default === "") {
          delete schema.default;
        }
      }
    }
  }
}

/**
 * Makes the schemas of answers open, since clients have to expect new members. The tests close them
 * again, so that every member of today's answers is described.
 */
function openAnswers(document: OpenApiDocument): void {
  for (const schema of answerObjects(document)) {
    if (schema["additionalProperties"] === false) delete schema["additionalProperties"];
  }
}
