import type { Reason } from "@workflow/errors";
import { z } from "zod";
import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { HTTP_STATUS_BY_REASON } from "../errors/http-status.ts";
import type { ContentType } from "../reply.ts";
import type { ResponseDeclaration } from "../route-declaration.ts";
import type { Route } from "../route-table-entry.ts";
import { isConditionalRead } from "./conditions.ts";
import { ERROR_TEXTS } from "./error-texts.ts";
import { errorsOf } from "./errors-of.ts";
import { errorHeaders, notModifiedHeaders, references, successHeaders } from "./headers.ts";

/** Every answer of an operation, by its status. */
export function responsesOf(route: Route): ZodOpenApiResponsesObject {
  const successes = Object.entries(route.responses).map(([status, declared]) => [
    status,
    toSuccess(route, status, declared),
  ]);
  const redirects = route.redirects === null ? [] : [["302", toRedirect(route.redirects)]];
  const notModified = isConditionalRead(route) ? [["304", NOT_MODIFIED]] : [];
  const errors = [...codesByStatus(route)].map(([status, codes]) => [
    String(status),
    { $ref: `#/components/responses/${errorName(route, codes)}` },
  ]);
  return Object.fromEntries([...successes, ...redirects, ...notModified, ...errors]);
}

/** The errors that these operations refer to, each set of codes once. */
export function errorComponents(routes: readonly Route[]) {
  const components: Record<string, ZodOpenApiResponseObject> = {};
  for (const route of routes) {
    for (const [status, codes] of codesByStatus(route)) {
      components[errorName(route, codes)] ??= toError(route, status, codes);
    }
  }
  return components;
}

/** The schema of every error. */
export const ERROR_SCHEMA: oas31.SchemaObject = {
  type: "object",
  description:
    "What every refusal and failure answers. Branch on `error.code`; the message is for people.",
  required: ["success", "error"],
  additionalProperties: false,
  properties: {
    success: { type: "boolean", const: false },
    error: {
      type: "object",
      required: ["code", "message", "requestId"],
      additionalProperties: false,
      properties: {
        code: {
          type: "string",
          enum: Object.keys(HTTP_STATUS_BY_REASON),
          description: "What went wrong, as a stable word.",
        },
        message: { type: "string", description: "The same for people; its wording may change." },
        details: {
          description:
            "More about some errors: of a wrong request a list of `{path, message}`, each path a list of names.",
        },
        requestId: { type: "string", description: "The request's id, as in `X-Request-Id`." },
      },
    },
  },
};

const NOT_MODIFIED: ZodOpenApiResponseObject = {
  description: "The object is as `If-None-Match` says; nothing is sent.",
  headers: notModifiedHeaders(),
};

function toSuccess(
  route: Route,
  status: string,
  declared: ResponseDeclaration,
): ZodOpenApiResponseObject {
  const { description } = declared;
  const headers = successHeaders(route, declared);
  if (status === "204") return { description, headers };
  const content = route.contentTypes.map((type) => [type, toContent(type, declared)]);
  return { description, headers, content: Object.fromEntries(content) };
}

function toRedirect(description: string): ZodOpenApiResponseObject {
  return { description, headers: references(["X-Request-Id", "Link", "Location"]) };
}

function toContent(type: ContentType, { data, meta }: ResponseDeclaration) {
  if (type !== "application/json") return STREAMS[type];
  const schema = z.strictObject({
    success: z.literal(true),
    data,
    ...(meta !== undefined && { meta }),
  });
  return { schema };
}

/** OpenAPI 3.1 cannot describe streams, so these are texts with an example. */
const STREAMS: Readonly<Record<Exclude<ContentType, "application/json">, object>> = {
  "text/event-stream": {
    schema: { type: "string", description: "Server-sent events; the data of each is JSON." },
  },
  "text/csv": {
    schema: {
      type: "string",
      description: "A line of names, then a line for each row (RFC 4180).",
    },
  },
  "application/jsonl": {
    schema: { type: "string", description: "A JSON object a line." },
  },
};

function codesByStatus(route: Route): Map<number, Reason[]> {
  const codes = new Map<number, Reason[]>();
  for (const reason of errorsOf(route)) {
    const status = HTTP_STATUS_BY_REASON[reason];
    codes.set(status, [...(codes.get(status) ?? []), reason].toSorted());
  }
  return new Map([...codes].toSorted(([one], [other]) => one - other));
}

/**
 * `BadRequestOrValidationError` for BAD_REQUEST and VALIDATION_ERROR; rate limits have one for each
 * bucket.
 */
function errorName(route: Route, codes: readonly Reason[]): string {
  const name = codes.map(inWords).join("Or");
  return codes.includes("RATE_LIMITED") ? capitalized(limitOf(route)) + name : name;
}

/**
 * The rate limit of a request: the bucket of a known caller, else the limit of the sender's
 * address.
 */
function limitOf({ scope, bucket }: Route): keyof typeof LIMITS {
  return scope === "everybody" ? "address" : bucket;
}

/** The default values; an operator may set others. */
const LIMITS = { read: 1_000, write: 100, execute: 500, address: 60 };

function inWords(code: Reason): string {
  return code.toLowerCase().split("_").map(capitalized).join("");
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function toError(route: Route, status: number, codes: readonly Reason[]): ZodOpenApiResponseObject {
  const texts = codes.map((code) => `\`${code}\`: ${ERROR_TEXTS[code].when}.`);
  const examples = codes.map((code) => [code, { value: exampleOf(route, code) }]);
  return {
    description: texts.join(" "),
    headers: errorHeaders(status),
    content: {
      "application/json": {
        schema: {
          allOf: [{ $ref: "#/components/schemas/Error" }, oneOfCodes(codes)],
        },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/**
 * Narrows the envelope. The other members are repeated for tools that treat unnamed members as
 * unknown.
 */
function oneOfCodes(codes: readonly Reason[]): oas31.SchemaObject {
  const code: oas31.SchemaObject = { type: "string", enum: [...codes] };
  const error = { code, message: {}, details: {}, requestId: {} };
  return {
    type: "object",
    properties: { success: {}, error: { type: "object", properties: error } },
  };
}

function exampleOf(route: Route, code: Reason) {
  const message = `Rate limit exceeded. Limit: ${LIMITS[limitOf(route)]} requests per minute.`;
  const example = code === "RATE_LIMITED" ? { message } : ERROR_TEXTS[code].example;
  return { success: false, error: { code, ...example, requestId: REQUEST_ID } };
}

const REQUEST_ID = "5f0d3c9e-4a0b-4d7c-9a57-0b1f6f1f2f10";
