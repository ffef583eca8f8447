import { z } from "zod";
import { ROLES } from "../../domain/roles.ts";
import { timeText, uuidText } from "../answer-schemas.ts";

/** A member of the company. */
export const memberSchema = z
  .strictObject({
    userId: uuidText.describe("The person's id in this company's eyes."),
    email: z.string().meta({ examples: ["ada@example.com"] }),
    name: z.string().meta({ examples: ["Ada"] }),
    role: z.enum(ROLES).meta({ examples: ["member"] }),
    createdAt: timeText.describe("Since when the person belongs to the company."),
  })
  .meta({ id: "Member", description: "Somebody who belongs to the company, or is invited." });
