import type { OpenAIChatLanguageModel } from "@ai-sdk/openai/internal";
import type { AgentUsage } from "../../domain/agent.ts";
import type { CalledProvider } from "./call-failure.ts";
import { toModelCallError } from "./call-failure.ts";
import { estimateQuestionTokens, estimateTokens } from "./estimate-tokens.ts";
import type { FinishReason } from "../../domain/finish-reason.ts";
import type { ModelAnswer, ModelQuestion } from "./model.ts";
import { openProviderRequest } from "./provider-request.ts";
import type { ProviderRequestOptions } from "./provider-request.ts";

/** The interface that all models of the AI SDK share. */
export type SdkModel = Pick<OpenAIChatLanguageModel, "doGenerate">;
/** The options of a call to the model. */
export type SdkCallOptions = Parameters<SdkModel["doGenerate"]>[0];
type SdkAnswer = Awaited<ReturnType<SdkModel["doGenerate"]>>;

/** The calls of one provider's API. */
export interface ModelCall {
  readonly question: ModelQuestion;
  /** Creates the model, which sends its requests by this `fetch`. */
  readonly createModel: (fetch: typeof globalThis.fetch) => SdkModel;
  /** The options that the provider needs besides the question. */
  readonly options: Pick<SdkCallOptions, "reasoning" | "responseFormat" | "providerOptions">;
  readonly called: CalledProvider;
}

/**
 * Asks a model with one HTTP request. It calls `doGenerate`, because `generateText` would report to
 * registered telemetry, print warnings and parse the answer.
 *
 * @throws ModelCallError
 */
export async function askOnce(
  call: ModelCall,
  options: ProviderRequestOptions,
): Promise<ModelAnswer> {
  const { question, called } = call;
  const exchange = openProviderRequest(options);
  let answer: SdkAnswer;
  try {
    answer = await call.createModel(exchange.fetch).doGenerate({
      ...call.options,
      prompt: toPrompt(question),
      temperature: question.temperature,
      maxOutputTokens: question.maxTokens,
    });
  } catch (error) {
    options.signal.throwIfAborted();
    throw await toModelCallError(error, exchange, called);
  }
  const said = readText(answer);
  const text = called.scrubber === null ? said : await called.scrubber.textInTurns(said);
  const { usage, isEstimate } = readUsage(answer, question, text);
  return {
    text,
    finishReason: toFinishReason(answer.finishReason.unified),
    usage,
    warnings: [
      ...answer.warnings.flatMap(toWarning),
      ...(isEstimate
        ? ["The provider did not say how many tokens were used; they are estimated."]
        : []),
    ],
  };
}

function toPrompt({ system, messages }: ModelQuestion): SdkCallOptions["prompt"] {
  return [
    { role: "system", content: system },
    ...messages.map(({ role, text }) => ({ role, content: [{ type: "text" as const, text }] })),
  ];
}

/** Nothing here interrupts a model. */
function toFinishReason(reason: SdkAnswer["finishReason"]["unified"]): FinishReason {
  return reason === "interrupted" ? "other" : reason;
}

/** A model may reason in its text first; its structured output is then its last answer. */
function readText({ structuredOutputText, content }: SdkAnswer): string {
  if (structuredOutputText !== undefined) return structuredOutputText;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** No answer has more tokens, so a higher count from a server is not trusted. */
const TOKENS_MAX = 100_000_000;

/** Compatible servers may not count tokens. Missing counts are estimated, because no answer is free. */
function readUsage(
  { usage }: SdkAnswer,
  question: ModelQuestion,
  text: string,
): { usage: AgentUsage; isEstimate: boolean } {
  const input = toCount(usage.inputTokens.total);
  const counted = toCount(usage.outputTokens.total);
  // A model that reasons may have used tokens for an empty text. Without a count, an empty text costs 0.
  const output = text === "" ? (counted ?? 0) : counted;
  const inputTokens = input ?? estimateQuestionTokens(question);
  const outputTokens = output ?? estimateTokens(text);
  return {
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    isEstimate: input === null || output === null,
  };
}

function toCount(tokens: number | undefined): number | null {
  if (tokens === undefined || !Number.isSafeInteger(tokens)) return null;
  return tokens > 0 && tokens <= TOKENS_MAX ? tokens : null;
}

/** The warning about reasoning is dropped, because this service sets the reasoning itself. */
function toWarning(warning: SdkAnswer["warnings"][number]): string[] {
  if (warning.type === "other") return [warning.message];
  if (warning.type === "deprecated") return [`${warning.setting}: ${warning.message}`];
  if (warning.feature === "reasoning") return [];
  return [warning.details ?? `${warning.feature} is not supported by the model`];
}
