import type { oas31, ZodOpenApiOperationObject, ZodOpenApiRequestBodyObject } from "zod-openapi";
import type { Route } from "../route-table-entry.ts";
import { hasBody } from "./errors-of.ts";
import { headerParameters, requestParameters } from "./parameters.ts";
import { responsesOf } from "./responses.ts";
import { tagOf } from "./tags.ts";

/** One operation, with every word from its declaration. */
export function toOperation(operationId: string, route: Route): ZodOpenApiOperationObject {
  return {
    operationId,
    tags: [tagOf(route.path)],
    summary: route.summary,
    description: descriptionOf(route),
    security: securityOf(route),
    requestParams: requestParameters(route),
    parameters: headerParameters(route),
    ...(hasBody(route) && { requestBody: toRequestBody(route) }),
    responses: responsesOf(route),
    "x-required-scopes": requiredScopes(route),
    "x-rate-limit-bucket": route.bucket,
    ...(route.audit.length > 0 && { "x-audit-actions": [...route.audit] }),
  };
}

function descriptionOf(route: Route): string {
  const { description, bucket, audit } = route;
  const counted = route.scope === "everybody" ? [] : [`Counts as ${BUCKET_WORDS[bucket]}.`];
  const audited = audit.length === 0 ? [] : [`Leaves ${inCode(audit)} in the audit log.`];
  const facts = [accessOf(route), ...counted, ...audited].join(" ");
  return `${description.join(" ").replaceAll(" \n", "\n")}\n\n${facts}`;
}

const BUCKET_WORDS: Readonly<Record<Route["bucket"], string>> = {
  read: "a read request",
  write: "a write request",
  execute: "an execute request",
};

function accessOf(route: Route): string {
  if (route.scope === "everybody") return "Needs no credential.";
  if (route.scope !== "session") return `Needs the scope \`${route.scope}\`.`;
  const role = route.roleScope === null ? "" : ` whose role has the scope \`${route.roleScope}\``;
  return `For people who are signed in${role}; an API key gets 403.`;
}

function inCode(actions: Route["audit"]): string {
  return actions.map((action) => `\`${action}\``).join(" or ");
}

function requiredScopes(route: Route): string[] {
  if (route.scope === "everybody") return [];
  if (route.scope !== "session") return [route.scope];
  return route.roleScope === null ? [] : [route.roleScope];
}

/** OpenAPI 3.1 allows scopes in requirements of every kind of scheme. */
function securityOf(route: Route): oas31.SecurityRequirementObject[] {
  if (route.scope === "everybody") return [];
  const scopes = requiredScopes(route);
  const session = { session: scopes };
  return route.scope === "session" ? [session] : [{ apiKey: scopes }, session];
}

function toRequestBody({ body }: Route): ZodOpenApiRequestBodyObject {
  const { schema, optional, bytesMax, isUpload } = body;
  const json = { "application/json": { schema } };
  const csv = { "text/csv": { schema: CSV } };
  return {
    description: `At most ${bytesMax.toLocaleString("en")} bytes, UTF-8.`,
    required: !optional,
    content: isUpload ? { ...json, ...csv } : json,
  };
}

const CSV: oas31.SchemaObject = {
  type: "string",
  description: "A line of names, then a line for each row (RFC 4180); with `format=csv`.",
};
