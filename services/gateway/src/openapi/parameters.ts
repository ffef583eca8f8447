import { z } from "zod";
import type { oas31 } from "zod-openapi";
import type { RequestHeader } from "../route-declaration.ts";
import type { Route } from "../route-table-entry.ts";
import { isConditionalRead } from "./conditions.ts";
import { errorsOf } from "./errors-of.ts";

/** The request headers that operations refer to. */
export const REQUEST_HEADERS = {
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "An id of the caller's own for the request; the answer and our logs repeat it. One of another form is replaced.",
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
    example: "order-4711-attempt-1",
  },
  Traceparent: {
    name: "traceparent",
    in: "header",
    description: "The caller's trace (W3C Trace Context), which the services carry on.",
    schema: { type: "string" },
    example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description:
      "An `ETag` that the caller has. While the object is as it was, the answer is 304 without a body.",
    schema: { type: "string" },
    example: '"3-1-active"',
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "The `ETag` of the state that the change is made for. When the object is another by now, nothing is changed (412).",
    schema: { type: "string" },
    example: '"3-1-active"',
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Stands for `idempotencyKey` of the body, which goes before it.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "order-4711",
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description:
      "The id of the last event that the client has; the stream goes on behind it. Browsers send it by themselves.",
    schema: { type: "string" },
    example: "12",
  },
} as const satisfies Record<string, oas31.ParameterObject>;

const COMPONENT_OF: Readonly<Record<RequestHeader, keyof typeof REQUEST_HEADERS>> = {
  "Idempotency-Key": "IdempotencyKey",
  "Last-Event-ID": "LastEventId",
};

/** References to the headers that an operation understands. */
export function headerParameters(route: Route): oas31.ReferenceObject[] {
  const names: (keyof typeof REQUEST_HEADERS)[] = [
    ...route.requestHeaders.map((name) => COMPONENT_OF[name]),
    ...(isConditionalRead(route) ? (["IfNoneMatch"] as const) : []),
    ...(errorsOf(route).has("PRECONDITION_FAILED") ? (["IfMatch"] as const) : []),
    "RequestId",
    "Traceparent",
  ];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/**
 * The parameters of an operation's path and query.
 *
 * @throws Error for a query that is no object of parameters
 */
export function requestParameters({ path, params, query }: Route) {
  if (!(query instanceof z.ZodObject)) throw new Error(`The query of ${path} is no object.`);
  return { path: pathParameters(params), query };
}

function pathParameters(params: Route["params"]): z.ZodObject {
  const entries = Object.entries(params);
  return z.object(
    Object.fromEntries(
      entries.map(([name, description]) => [
        name,
        z.string().meta({ description, examples: [exampleOf(name, description)] }),
      ]),
    ),
  );
}

/** The schema of an id follows from its description, that of another parameter from its name. */
function exampleOf(name: string, description: string): string {
  const found = EXAMPLES.find(([words]) => words.test(`${name} ${description}`));
  return found?.[1] ?? "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
}

const EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [/^provider /, "stripe"],
  [/^type /, "http"],
  [/^version /, "2"],
  [/^key /, "API_TOKEN"],
  [/^path /, "loop1[2].child"],
  [/^columnId /, "col_01kg9d1kzcexw9f1c3f4r7m2qa"],
  [/^approvalId /, "apr_01kg9d1kzcexw9f1c3f4r7m2qa"],
  [/^executionId /, "aex_01kg9d1kzcexw9f1c3f4r7m2qa"],
  [/^deliveryId /, "whd_01kg9d1kzcexw9f1c3f4r7m2qa"],
  [/\brun's id/i, "run_01kg9d1kzcexw9f1c3f4r7m2qa"],
  [/\bconnection's id/i, "conn_01kg9d1kzcexw9f1c3f4r7m2qa"],
  [/\bendpoint's id/i, "whe_01kg9d1kzcexw9f1c3f4r7m2qa"],
];
