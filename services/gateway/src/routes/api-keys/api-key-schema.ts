import { z } from "zod";
import { timeText, uuidText } from "../answer-schemas.ts";
import { SCOPES } from "../../domain/scopes.ts";

const keyFields = {
  id: uuidText.describe("The key's id; not the key."),
  name: z.string().meta({ examples: ["Deployments"] }),
  keyPrefix: z
    .string()
    .describe("The first 12 characters of the key.")
    .meta({ examples: ["wfk_9sQkL2mX"] }),
  scopes: z.array(z.enum(SCOPES)).meta({ examples: [["workflows:read", "runs:read"]] }),
  createdAt: timeText,
  expiresAt: timeText.nullable().describe("From when on it is refused; null: never."),
  lastUsedAt: timeText
    .nullable()
    .describe("When it was last used, roughly; null for one that was not."),
};

/** A newly created key. */
export const newApiKeySchema = z
  .strictObject({
    ...keyFields,
    key: z
      .string()
      .regex(/^wfk_[A-Za-z0-9]{32}$/)
      .describe("The key itself, sent as x-api-key. It is shown here only.")
      .meta({ examples: ["wfk_0000000000000000000000000example"] }),
  })
  .meta({ id: "NewApiKey", description: "An API key that was just made." });

const makerFields = {
  type: z.enum(["user", "api_key"]),
  id: uuidText,
  name: z
    .string()
    .nullable()
    .describe("As it was when the key was made; null where nobody knows it any more.")
    .meta({ examples: ["Ada"] }),
};

/** A key in a list. */
export const apiKeySchema = z
  .strictObject({
    ...keyFields,
    createdBy: z
      .strictObject({
        ...makerFields,
        origin: z
          .strictObject(makerFields)
          .optional()
          .describe("Only of a key that a key made: who made the first in that row."),
      })
      .nullable()
      .describe("Who made it; null for one that the operator of the installation made."),
  })
  .meta({ id: "ApiKey", description: "An API key, without the key itself." });
