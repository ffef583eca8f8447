import { z } from "zod";
import { anyJson, anyObject, namesOf, prefixedId, timeText } from "../answer-schemas.ts";
import { CONNECTION_STATUSES } from "./connection-json.ts";

const connectionIdSchema = prefixedId("conn_").describe("The connection's id.");

const providerIdSchema = z
  .string()
  .describe("The provider's id, such as stripe.")
  .meta({ examples: ["hubspot"] });

const nameSchema = z
  .string()
  .describe("For people, 1 to 255 characters; need not be unique.")
  .meta({ examples: ["Billing account"] });

/** The statuses of connections. */
export const connectionStatus = namesOf(CONNECTION_STATUSES).meta({
  id: "ConnectionStatus",
  description:
    "pending: the authorization has begun. active: it works. error: see `errorMessage`. expired: it has to be authorized again. disconnected: the access was taken back. abandoned: the authorization was never completed.",
  examples: ["active"],
});

const accountIdSchema = z
  .string()
  .nullable()
  .describe("The account at the provider, as the provider names it; null until it is known.")
  .meta({ examples: ["acct_1QbQ2rKd"] });

/** The fields of every connection. */
const connectionFields = {
  id: connectionIdSchema,
  name: nameSchema,
  provider: providerIdSchema,
  status: connectionStatus,
  externalAccountId: accountIdSchema,
  errorMessage: z.string().nullable().describe("What is wrong, for people; null: nothing is."),
  lastSyncedAt: timeText
    .nullable()
    .describe("When the account was last reached to renew or read something; null: not yet."),
  createdAt: timeText,
  updatedAt: timeText,
};

/** A connection as lists show it. */
export const listedConnectionSchema = z.strictObject(connectionFields).meta({
  id: "ListedConnection",
  description: "An account at a provider, without credentials.",
});

/** A connection with the caller's metadata. */
export const connectionSchema = z
  .strictObject({
    ...connectionFields,
    metadata: anyObject
      .describe("What the caller keeps with it; `{}` without any.")
      .meta({ examples: [{ team: "finance" }] }),
  })
  .meta({
    id: "Connection",
    description: "An account at a provider, without credentials, with the caller's metadata.",
  });

/** A connection whose keys were stored. */
export const keyedConnectionSchema = z
  .strictObject({
    ...connectionFields,
    message: z
      .string()
      .describe("What was done, for people.")
      .meta({
        examples: ["The connection is active."],
      }),
  })
  .meta({ id: "KeyedConnection", description: "A connection whose keys the provider accepts." });

/** A connection whose authorization has begun. */
export const newConnectionSchema = z
  .strictObject({
    id: connectionIdSchema,
    name: nameSchema,
    provider: providerIdSchema,
    status: connectionStatus.describe("pending; of an own application active at once.").meta({
      examples: ["pending"],
    }),
    oauthUrl: z
      .url()
      .nullable()
      .describe("Where a person authorizes it; null for an own application, which needs that not.")
      .meta({ examples: ["https://workflows.example.com/connect/4f1c0a"] }),
    message: z
      .string()
      .describe("What to do next, for people.")
      .meta({
        examples: ["Open oauthUrl in a browser to complete the connection."],
      }),
  })
  .meta({ id: "NewConnectionAnswer", description: "A connection that has begun." });

/** The address to which a person is sent. */
export const authorizationSchema = z
  .strictObject({
    connectionId: connectionIdSchema,
    provider: providerIdSchema,
    authUrl: z
      .url()
      .describe("Where to send the person.")
      .meta({
        examples: ["https://app.hubspot.com/oauth/authorize?client_id=1"],
      }),
    isNew: z
      .boolean()
      .describe("Whether the connection was made just now; else it is to be authorized again."),
    message: z
      .string()
      .describe("What to do next, for people.")
      .meta({
        examples: ["Send the person to authUrl to connect HubSpot."],
      }),
  })
  .meta({ id: "Authorization", description: "An attempt to connect an account." });

/** A connection that was authorized. */
export const authorizedSchema = z
  .strictObject({
    connectionId: connectionIdSchema,
    provider: providerIdSchema,
    status: z.literal("active").describe("It works from now on."),
    message: z
      .string()
      .describe("What was done, for people.")
      .meta({
        examples: ["The account is connected."],
      }),
  })
  .meta({ id: "AuthorizedConnection", description: "A connection that was authorized." });

/** The result of a refresh. */
export const refreshedSchema = z
  .strictObject({
    id: connectionIdSchema,
    lastSyncedAt: timeText
      .nullable()
      .describe("When that was; null where the connection was changed by others meanwhile."),
    message: z
      .string()
      .describe("What was done, for people.")
      .meta({
        examples: ["The connection was refreshed."],
      }),
  })
  .meta({ id: "RefreshedConnection", description: "A connection whose credentials are good." });

/** The result of a check of credentials. */
export const verifiedSchema = z
  .strictObject({
    healthy: z.boolean().describe("Whether the provider has accepted the credentials."),
    connectionId: connectionIdSchema,
    provider: providerIdSchema,
    status: connectionStatus.describe(
      "The status as it is now; a provider that does not answer changes none.",
    ),
    externalAccountId: accountIdSchema,
    error: z.string().nullable().describe("What is wrong, for people; null when healthy."),
    checkedAt: timeText.describe("When this was found out."),
  })
  .meta({ id: "ConnectionHealth", description: "What the provider says of a connection." });

/** Accounts at a bank. */
export const bankAccountsSchema = z
  .strictObject({
    accounts: z
      .array(anyJson)
      .describe("In the bank provider's own terms; empty while the bank wants a new sign-in.")
      .meta({ examples: [[{ account_id: "BxBXxLj1m4HMXBm9WZZm", name: "Checking" }]] }),
    lastErrorCode: z
      .string()
      .nullable()
      .describe("The provider's code of what is wrong; null: nothing is.")
      .meta({ examples: ["ITEM_LOGIN_REQUIRED"] }),
    lastSyncedAt: timeText.nullable().describe("When the accounts were last read; null: not yet."),
  })
  .meta({ id: "BankAccounts", description: "The accounts that a person has given access to." });
