import type { ModelQuestion } from "./model.ts";

/** Providers count a token for four characters of English, and for one of Chinese, which has three bytes. */
const BYTES_PER_TOKEN = 3;

/** What a provider may charge for a text, rather too many tokens than too few. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** The same for all that a question sends. */
export function estimateQuestionTokens(question: ModelQuestion): number {
  const { system, messages, outputSchema } = question;
  const schema = outputSchema === null ? 0 : estimateTokens(JSON.stringify(outputSchema));
  return messages.reduce(
    (sum, { text }) => sum + estimateTokens(text),
    estimateTokens(system) + schema,
  );
}
