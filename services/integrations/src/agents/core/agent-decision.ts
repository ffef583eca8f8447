import { z } from "zod";
import { exactly, share, textOf, texts } from "./answer-schema.ts";
import { defineCoreAgent } from "./core-agent.ts";
import {
  anyObject,
  anyValue,
  customInstructions,
  background,
  shortText,
  statements,
} from "./variables.ts";

const OPTION_FORM = "must be a string, or an object with an id, value or name that is a string";

const optionId = shortText(255).min(1);
const option = z.union(
  [
    optionId,
    z.object({ id: optionId }),
    z.object({ value: optionId }),
    z.object({ name: optionId }),
  ],
  { error: OPTION_FORM },
);
type Option = z.output<typeof option>;

const variables = z.object({
  data: anyValue,
  decisionType: z.enum(["approval_routing", "classification", "priority"]).optional(),
  options: z
    .array(option)
    .min(1)
    .max(200)
    .refine(haveOneIdEach, "must not name an option twice")
    .optional(),
  criteria: statements.optional(),
  thresholds: anyObject.optional(),
  context: background.optional(),
  customInstructions: customInstructions.optional(),
});

/** Decides and routes. */
export const agentDecision = defineCoreAgent({
  id: "agent_decision",
  name: "Decision and routing",
  description:
    "Decides by criteria and thresholds which option fits data, gives its reasons, and says when a person should look.",
  type: "decision",
  temperature: 0,
  maxTokens: 4_096,
  version: 1,
  variables,
  outputSchemaOf({ options }) {
    const ids = options?.map(idOf);
    // Models write members in this order, so the reasons come before the decision.
    return exactly({
      factors: {
        type: "array",
        items: exactly({
          factor: { type: "string", description: "The criterion, threshold or condition" },
          finding: { type: "string", description: "What the data says of it" },
          effect: textOf(["for", "against", "neutral"], "What it says of the decision"),
        }),
        description: "What was weighed, the weightiest first",
      },
      missingInformation: texts("What would have made the decision surer"),
      reasoning: { type: "string", description: "Why, in a few sentences that name the facts" },
      decision: textOf(ids, "What is decided"),
      confidence: share("How sure the decision is right"),
      alternatives: {
        type: "array",
        items: exactly({
          decision: textOf(ids, "What else could be decided"),
          confidence: share("How likely that is right"),
        }),
        description: "Other decisions that are worth a thought, the likeliest first",
      },
      needsReview: { type: "boolean", description: "Whether a person should decide" },
    });
  },
});

/** The first of id, value and name that can serve as an id. */
function idOf(each: Option): string {
  if (typeof each === "string") return each;
  if ("id" in each) return each.id;
  return "value" in each ? each.value : each.name;
}

function haveOneIdEach(options: readonly Option[]): boolean {
  return new Set(options.map(idOf)).size === options.length;
}
