import type { ModelDouble } from "@workflow/testkit";
import type { Storyteller } from "./storyteller.ts";

const QUESTION = { input: { document: "Invoice 42 of Example Ltd, total 129.50" } };
const ANSWER = { text: '{"total":129.5}', usage: { inputTokens: 180, outputTokens: 12 } };

/** The company lets an agent read its invoices. */
export async function tellOfAgents(story: Storyteller, openai: ModelDouble): Promise<void> {
  openai.reply = () => ({ ...ANSWER });
  const id = await story.make("createAgent", {
    body: {
      name: "Invoice reader",
      type: "extraction",
      systemPrompt: "You read invoices. Answer with the total.",
      outputSchema: {
        type: "object",
        properties: { total: { type: "number" } },
        required: ["total"],
        additionalProperties: false,
      },
    },
  });
  const params = { id };
  await story.tell("testAgent", { params, body: QUESTION });
  await story.tell("updateAgent", {
    params,
    body: { systemPrompt: "You read invoices. Answer with the total in euros." },
  });
  const executionId = await story.make("executeAgent", { params, body: QUESTION });
  await story.tell("listAgentExecutions", { params });
  await story.tell("getAgentExecution", { params: { ...params, executionId } });
  await story.tell("evaluateAgent", {
    params,
    body: { cases: [{ name: "Invoice 42", ...QUESTION, expect: { equals: { total: 129.5 } } }] },
  });
  await story.tell("getAgent", { params });
  await story.tell("listAgents", { query: { includeBuiltIn: "false" } });
  await story.tell("deleteAgent", { params });
}
