import type { JsonSchemaValidator } from "@workflow/definition";
import type { Violation } from "@workflow/errors";
import { storableText } from "../provider-http/storable-text.ts";
import type { AgentAnswer, AgentFailure, AgentQuestion } from "./agent-answer.ts";
import { readOutput } from "./agent-output.ts";
import { timedOut } from "./models/call-failure.ts";
import { ModelCallError } from "./models/model-call-error.ts";
import type { ModelAnswer, ModelMessage, ModelQuestion, Models } from "./models/model.ts";
import { boundViolations, composeRepair } from "./repair-message.ts";
import type { Spending } from "./spending.ts";

/** A question that was checked and composed. */
export interface ComposedQuestion {
  readonly models: Models;
  readonly question: AgentQuestion;
  readonly model: string;
  /** The first question to the model. */
  readonly first: ModelQuestion;
  /** The schema of the answer; null for an answer that is text. */
  readonly schema: JsonSchemaValidator | null;
  readonly exchangeTimeoutMs: number;
  /** Counts the usage of every attempt. */
  readonly spending: Spending;
}

/** The most repairs of one answer (D43). */
const REPAIRS_MAX = 2;

/** The limit of an answer's text; the rest is cut off. */
const RAW_BYTES_MAX = 1024 * 1024;

/** A final answer, or the message for another attempt. */
type Judged =
  | { readonly outputJson: string }
  | { readonly failure: AgentFailure; readonly repair: readonly Violation[] | null };

/**
 * Asks a model, and asks again when the answer does not fit. A repeated question has the first message,
 * the last answer and its problems. Refusals and answers that are cut off or too large are not
 * repeated, since they would end the same way.
 *
 * @throws ModelCallError with the `usage` of the attempts before; the signal's reason
 */
export async function askWithRepairs(composed: ComposedQuestion): Promise<AgentAnswer> {
  const { question, first, schema, model, spending } = composed;
  const startedAt = performance.now();
  const warnings = new Set<string>();
  let messages = first.messages;
  for (let repairAttempts = 0; ; repairAttempts += 1) {
    const leftMs = question.timeoutMs - (performance.now() - startedAt);
    const asked = { ...first, messages };
    spending.begin(asked, repairAttempts);
    const answer = await askModel(composed, asked, leftMs);
    spending.answered(answer.usage);
    for (const warning of answer.warnings) warnings.add(warning);
    const judged = judge(answer, schema);
    const repair = "repair" in judged ? judged.repair : null;
    if (repair === null || repairAttempts === REPAIRS_MAX) {
      const outputJson = "outputJson" in judged ? judged.outputJson : null;
      return {
        outputJson,
        rawOutput: cutToBytes(storableText(answer.text), RAW_BYTES_MAX),
        usage: spending.spent.usage ?? answer.usage,
        durationMs: Math.round(performance.now() - startedAt),
        finishReason: answer.finishReason,
        schemaValid: outputJson !== null,
        repairAttempts,
        model,
        warnings: [...warnings],
        error: "failure" in judged ? judged.failure : null,
      };
    }
    messages = [...first.messages, ...repairMessages(answer, repair, schema !== null)];
  }
}

async function askModel(
  { models, question, exchangeTimeoutMs, spending }: ComposedQuestion,
  asked: ModelQuestion,
  leftMs: number,
): Promise<ModelAnswer> {
  const { agent, companyId, traceparent, signal } = question;
  try {
    if (leftMs <= 0) throw timedOut(agent.provider);
    return await models.ask(agent.provider, asked, {
      companyId,
      traceparent,
      signal,
      timeoutMs: exchangeTimeoutMs,
      leftMs,
      onSent: () => spending.sent(),
    });
  } catch (error) {
    spending.failed();
    const { usage } = spending.spent;
    if (!(error instanceof ModelCallError) || usage === undefined) throw error;
    throw new ModelCallError(error.message, { ...error.failure, usage }, { cause: error });
  }
}

function judge(answer: ModelAnswer, schema: JsonSchemaValidator | null): Judged {
  const final = findFinalFailure(answer);
  if (final !== null) return { failure: final, repair: null };
  const output = readOutput(schema === null ? storableText(answer.text) : answer.text, schema);
  if (output.ok) return output;
  const violations = boundViolations(output.violations);
  const message =
    schema === null
      ? "The model gave no text."
      : "The model's answer is no JSON that fits the output schema.";
  const failure: AgentFailure = {
    code: "AGENT_OUTPUT_INVALID",
    message,
    details: { violations },
  };
  return { failure, repair: output.violations };
}

function findFinalFailure({ finishReason, text }: ModelAnswer): AgentFailure | null {
  if (finishReason === "content-filter") {
    const message = "The model, or a filter of its provider, refused to answer.";
    return { code: "AGENT_OUTPUT_REFUSED", message, details: {} };
  }
  if (finishReason === "length") {
    const message = "The answer was cut off at maxTokens.";
    return { code: "AGENT_OUTPUT_CUT", message, details: {} };
  }
  if (Buffer.byteLength(text) > RAW_BYTES_MAX) {
    const message = `The answer is larger than ${RAW_BYTES_MAX} bytes.`;
    return { code: "AGENT_OUTPUT_TOO_LARGE", message, details: { bytesMax: RAW_BYTES_MAX } };
  }
  return null;
}

/** A repair repeats only the last wrong answer, so attempts do not become more expensive. */
function repairMessages(
  { text }: ModelAnswer,
  violations: readonly Violation[],
  wantsJson: boolean,
): ModelMessage[] {
  return [
    // Providers refuse messages without a text.
    { role: "assistant", text: text.trim() === "" ? "(no text)" : text },
    { role: "user", text: composeRepair(violations, wantsJson) },
  ];
}

/** Cuts at a whole character. */
function cutToBytes(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  const bytes = Buffer.from(text);
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
