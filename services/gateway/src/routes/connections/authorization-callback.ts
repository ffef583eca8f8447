import { AppError } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import type { CompleteAuthorizationResponse } from "@workflow/proto/integrations/v1/authorizations";
import { z } from "zod";
import { openRoute } from "../../route.ts";
import { authorizedSchema } from "./connection-schema.ts";

/**
 * Longer than the 40 s in which the provider or the broker is asked, or another request that asks
 * is awaited.
 */
const TIMEOUT_MS = 45_000;
/** The contract's parameters in the query of `redirectUrl`. */
const OUTCOME_PARAMS = ["success", "error", "provider", "connectionId"];

export const authorizationCallback = openRoute({
  method: "GET",
  path: "/connections/{provider}/callback",
  bucket: "read",
  audit: "connection.authorized",
  summary: "Come back from a provider",
  description: [
    "The provider sends the person's browser here, and the connection becomes active, or error.",
    "Nothing that is said in the address is believed: `state` is the attempt's own secret, and the provider or broker is asked.",
    "Where the attempt has a `redirectUrl` the browser goes on there (302) with the outcome in the query; otherwise the answer is 200.",
    "One address has 60 callbacks a minute.",
    "It ends an attempt to connect an account, so HEAD is refused with 405.",
  ],
  admit: ({ callbacks, client }) => Promise.resolve(callbacks.admit(client.ipAddress)),
  params: { provider: "The provider's id." },
  // Other parameters of the provider are passed on too.
  query: z.looseObject({
    connectionId: z
      .string()
      .optional()
      .describe("The connection that the attempt is about; of attempts through the broker."),
    success: z
      .string()
      .optional()
      .describe("true or false, as the broker says; false ends nothing.")
      .meta({ examples: ["true"] }),
    error: z
      .string()
      .optional()
      .describe("What the provider or broker says went wrong, as a code."),
    redirectUrl: z
      .string()
      .optional()
      .describe("Not read: a person goes to the address that was given when the attempt began."),
    state: z
      .string()
      .optional()
      .describe("The attempt's token, as a provider sends it back; without the broker."),
    code: z.string().optional().describe("What a provider gives for tokens; along with `state`."),
  }),
  body: { schema: z.object({}), optional: true },
  responses: {
    200: {
      description: "The account is connected, and the attempt names no address to go on to.",
      data: authorizedSchema,
    },
  },
  redirects:
    "To the redirectUrl that was given when the attempt began, with `success`, `provider` and `connectionId` in its query, or with `error` and `connectionId`.",
  errors: ["NOT_FOUND", "CONFLICT", "RATE_LIMITED", "UPSTREAM_ERROR"],
  handler: async ({ authorizations, serviceCall }, { params, query }) => {
    const given = Object.fromEntries(
      Object.entries(query).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value]] : [],
      ),
    );
    const outcome = await authorizations.completeAuthorization(
      { provider: params.provider, params: given },
      { ...serviceCall, timeoutMs: TIMEOUT_MS },
    );
    // The only target is the address stored when the attempt began; `redirectUrl` is not read
    // (D39).
    if (outcome.redirectUrl !== undefined) {
      return { redirect: withOutcome(outcome.redirectUrl, outcome) };
    }
    const { connectionId, provider, error, message = "The account was not connected." } = outcome;
    if (error === undefined) {
      const connected = "The account is connected.";
      return {
        status: 200,
        data: { connectionId, provider, status: "active", message: connected },
      };
    }
    throw new AppError(reasonOf(error), message, { details: { connectionId, provider, error } });
  },
});

function reasonOf(error: string): Reason {
  if (error === "provider_unreachable") return "UPSTREAM_ERROR";
  return error === "being_confirmed" ? "CONFLICT" : "BAD_REQUEST";
}

/**
 * The stored address, with the contract's parameters in its query. They replace parameters of the
 * same names: an `error` beside a success would contradict it.
 */
function withOutcome(
  redirectUrl: string,
  { connectionId, provider, error }: CompleteAuthorizationResponse,
): string {
  const url = new URL(redirectUrl);
  for (const name of OUTCOME_PARAMS) url.searchParams.delete(name);
  if (error === undefined) {
    url.searchParams.set("success", "true");
    url.searchParams.set("provider", provider);
  } else {
    url.searchParams.set("error", error);
  }
  url.searchParams.set("connectionId", connectionId);
  return url.href;
}
