import { z } from "zod";
import { exactly, textOf, texts } from "./answer-schema.ts";
import { defineCoreAgent } from "./core-agent.ts";
import { customInstructions, longText, shortText, statements } from "./variables.ts";

const FORMATS = ["text", "html", "markdown"] as const;

const variables = z.object({
  contentType: z.enum(["email", "message", "summary", "notification"]).optional(),
  tone: z.enum(["professional", "friendly", "formal", "casual", "urgent"]).optional(),
  format: z.enum(FORMATS).optional(),
  recipient: shortText().optional(),
  subject: shortText().optional(),
  context: longText.optional(),
  keyPoints: statements.optional(),
  customInstructions: customInstructions.optional(),
});

/** Writes texts to people. */
export const agentContent = defineCoreAgent({
  id: "agent_content",
  name: "Content writing",
  description:
    "Writes e-mails, messages, summaries and notifications from the facts that it is given, and from no others.",
  type: "content",
  temperature: 0.7,
  maxTokens: 4_096,
  version: 1,
  variables,
  outputSchemaOf: ({ format }) =>
    exactly({
      subject: {
        type: ["string", "null"],
        description: "One line; null where such a text has no subject",
      },
      body: { type: "string", description: "The text, ready to be sent" },
      format: textOf(format === undefined ? FORMATS : [format], "What the body is written in"),
      warnings: texts("What somebody should check before it is sent"),
    }),
});
