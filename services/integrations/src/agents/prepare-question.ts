import { Turns } from "@workflow/async";
import { compileJsonSchema } from "@workflow/definition";
import type { JsonSchemaValidator } from "@workflow/definition";
import type { Violation } from "@workflow/errors";
import { setImmediate as nextTick } from "node:timers/promises";
import type { AgentQuestion, PrepareQuestion } from "./agent-answer.ts";
import { AgentInputError } from "./agent-input-error.ts";
import { askWithRepairs } from "./ask-with-repairs.ts";
import { MAX_TOKENS_MAX, TEMPERATURE_MAX } from "./limits.ts";
import { notConfigured } from "./models/create-models.ts";
import { estimateQuestionTokens } from "./models/estimate-tokens.ts";
import type { ModelQuestion, Models } from "./models/model.ts";
import type { ComposedPrompt } from "./prompt/composed-prompt.ts";
import { Spending } from "./spending.ts";

/** The dependencies of questions to agents. */
interface AskingOptions {
  readonly models: Models;
  /** @throws AgentInputError when the agent does not take the input or the user's message */
  readonly composePrompt: (
    question: Pick<AgentQuestion, "agent" | "input" | "userMessage">,
  ) => ComposedPrompt;
  /** The limit of one exchange with the provider. A question makes at most three exchanges. */
  readonly exchangeTimeoutMs: number;
}

/**
 * Compiling a schema blocks the event loop for up to a tenth of a second, even when the schema is
 * refused (D57).
 */
const COMPOSING = { perTenant: 1, total: 1 };

/** Checks and composes questions; `ask` of the result sends them. */
export function createPrepareQuestion(options: AskingOptions): PrepareQuestion {
  const { models, exchangeTimeoutMs } = options;
  const turns = new Turns(COMPOSING);
  return async (question) => {
    const { agent, overrides } = question;
    const model = models.modelOf(agent.provider);
    refuseOverrides(question, model);
    const { system, user, outputSchema, schema } = await composeInTurns(question, options, turns);
    if (models.missingSetting(agent.provider) !== null) throw notConfigured(agent.provider);
    const first: ModelQuestion = {
      system,
      messages: [{ role: "user", text: user }],
      temperature: overrides.temperature ?? agent.temperature,
      maxTokens: overrides.maxTokens ?? agent.maxTokens,
      outputSchema,
    };
    const spending = new Spending();
    const composed = { models, question, model, first, schema, exchangeTimeoutMs, spending };
    return {
      inputTokensEstimate: estimateQuestionTokens(first),
      maxTokens: first.maxTokens,
      model,
      ask: () => askWithRepairs(composed),
      spent: () => spending.spent,
    };
  };
}

/** Composes one question at a time. Companies take turns, and the event loop runs between two questions. */
async function composeInTurns(
  question: AgentQuestion,
  { composePrompt }: AskingOptions,
  turns: Turns,
): Promise<ComposedPrompt & { readonly schema: JsonSchemaValidator | null }> {
  const giveBack = await turns.take(question.companyId, question.signal);
  try {
    await nextTick();
    const prompt = composePrompt(question);
    return { ...prompt, schema: compileOutputSchema(prompt.outputSchema) };
  } finally {
    giveBack();
  }
}

function refuseOverrides({ agent, overrides }: AgentQuestion, theModel: string): void {
  const { temperature, maxTokens, model } = overrides;
  const violations: Violation[] = [];
  if (temperature !== undefined && !(temperature >= 0 && temperature <= TEMPERATURE_MAX)) {
    const message = `must be from 0 to ${TEMPERATURE_MAX}`;
    violations.push({ path: ["overrides", "temperature"], message });
  }
  if (maxTokens !== undefined && !isTokenLimit(maxTokens)) {
    const message = `must be a whole number from 1 to ${MAX_TOKENS_MAX}`;
    violations.push({ path: ["overrides", "maxTokens"], message });
  }
  if (model !== undefined && model !== theModel) {
    const message = `must be ${theModel}, the model of the provider ${agent.provider}`;
    violations.push({ path: ["overrides", "model"], message });
  }
  if (violations.length > 0) throw new AgentInputError(violations);
}

function isTokenLimit(count: number): boolean {
  return Number.isInteger(count) && count >= 1 && count <= MAX_TOKENS_MAX;
}

/** The schema was compiled when the agent was saved, so only newly forbidden schemas fail here. */
function compileOutputSchema(schema: ComposedPrompt["outputSchema"]): JsonSchemaValidator | null {
  if (schema === null) return null;
  const compiled = compileJsonSchema(schema);
  if (compiled.ok) return compiled;
  throw new AgentInputError(
    compiled.violations.map(({ path, message }) => ({ path: ["outputSchema", ...path], message })),
  );
}
