import { z } from "zod";
import { ROLES } from "../../domain/roles.ts";
import { timeText, uuidText } from "../answer-schemas.ts";

const companyFields = {
  id: uuidText.describe("The company's id."),
  name: z.string().meta({ examples: ["Demo"] }),
};
const role = z
  .enum(ROLES)
  .describe("What the person is in the company.")
  .meta({ examples: ["owner"] });

/** The answer to a sign-in. */
export const sessionSchema = z
  .strictObject({
    user: z.strictObject({
      id: uuidText.describe("The person's id."),
      email: z.string().meta({ examples: ["ada@example.com"] }),
      name: z.string().meta({ examples: ["Ada"] }),
    }),
    company: z.strictObject(companyFields).describe("The company that the session works in."),
    role,
    expiresAt: timeText.describe("When it ends unless it is used before."),
  })
  .meta({ id: "Session", description: "Who is signed in, and to which company." });

/** A session, and the person's other companies. */
export const ownSessionSchema = sessionSchema
  .extend({
    companies: z
      .array(
        z.strictObject({
          ...companyFields,
          role,
          invited: z
            .literal(true)
            .optional()
            .describe("The invitation has still to be accepted; left out for a member."),
        }),
      )
      .describe("The person's companies, the one used last first, then invitations; 100 at most."),
  })
  .meta({ id: "OwnSession", description: "A session, and the companies of its person." });
