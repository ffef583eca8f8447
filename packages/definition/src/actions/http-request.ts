import { findProvider } from "@workflow/catalog";
import { z } from "zod";
import { connectionId } from "../step-types/config-parts.ts";
import { templatable, templatableText } from "../zod-messages.ts";
import type { ActionDefinition } from "./action.ts";

/** Methods that a request of a workflow may have (D17). */
export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const STATUS_CLASSES = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;
const TIMEOUT_MS_MAX = 600_000;
const REDIRECTS_MAX = 10;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: "must be a string, a number, a boolean or null",
});

const successStatus = z.union([z.int().min(100).max(599), z.enum(STATUS_CLASSES)], {
  error: 'must be a status from 100 to 599 or a class such as "2xx"',
});

const auth = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("none") }),
    z.looseObject({ type: z.literal("bearer"), token: z.string().min(1) }),
    z.looseObject({ type: z.literal("basic"), username: z.string(), password: z.string() }),
    z.looseObject({
      type: z.literal("connection"),
      connectionId: connectionId.nullish(),
      provider: z
        .string()
        .refine((id) => id.includes("{{") || findProvider(id) !== undefined, {
          error: "must be the id of a provider of the catalog",
        })
        .nullish(),
    }),
  ],
  {
    error: (issue) =>
      issue.code === "invalid_union"
        ? 'must be "none", "bearer", "basic" or "connection"'
        : undefined,
  },
);

/**
 * One HTTP request (D17). Null counts as absent, at saving and at sending: a template whose path does not
 * exist gives null. Header and query values that are null are left out.
 */
export const httpRequest: ActionDefinition = {
  id: "http.request",
  title: "HTTP request",
  description:
    "Sends an HTTP request to a public host. A status other than the successful ones fails the step.",
  outputs: ["status", "headers", "body"],
  inputs: z.looseObject({
    method: templatableText(z.enum(HTTP_METHODS)).meta({ description: "The method" }),
    url: z
      .string()
      .refine(isPossibleUrl, {
        error: "must be an absolute http or https URL, or contain a template",
      })
      .meta({ description: "An absolute http or https URL" }),
    headers: templatable(z.record(z.string(), scalar)).nullish().meta({
      description:
        "Headers by name. Where the run's trace is recorded, a W3C traceparent is added unless one is given",
    }),
    query: templatable(z.record(z.string(), z.union([scalar, z.array(scalar)])))
      .nullish()
      .meta({ description: "Query parameters by name, several values as an array" }),
    body: z
      .unknown()
      .optional()
      .meta({ description: "Any JSON value; a string is sent as it is, all else as JSON" }),
    auth: templatable(auth).nullish().meta({
      description:
        "How the request says who sends it; none where it is not given. {type: connection, connectionId?, provider?} signs it with a connection, for the provider's hosts only; an answer of 401 changes nothing about that connection",
    }),
    timeoutMs: templatable(z.int().min(1).max(TIMEOUT_MS_MAX))
      .nullish()
      .meta({ description: "The time for the answer in milliseconds; 30000 by default" }),
    successStatuses: templatable(z.array(templatableText(successStatus)).min(1))
      .nullish()
      .meta({
        description: "Statuses that count as success, one by one or as a class; 2xx by default",
      }),
    followRedirects: templatable(z.int().min(0).max(REDIRECTS_MAX))
      .nullish()
      .meta({ description: "The most redirects to follow; 0 by default" }),
  }),
};

/** A URL that a template completes is checked when it is known. */
function isPossibleUrl(text: string): boolean {
  if (text.includes("{{")) return true;
  const url = URL.parse(text);
  return url?.protocol === "http:" || url?.protocol === "https:";
}
