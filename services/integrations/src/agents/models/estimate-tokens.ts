import type { ModelQuestion } from "./model.ts";

/** Providers count one token for four characters of English, and one for a Chinese character of three bytes. */
const BYTES_PER_TOKEN = 3;

/** An estimate of a text's tokens, too high rather than too low. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** An estimate of the tokens of a whole question. */
export function estimateQuestionTokens(question: ModelQuestion): number {
  const { system, messages, outputSchema } = question;
  const schema = outputSchema === null ? 0 : estimateTokens(JSON.stringify(outputSchema));
  return messages.reduce(
    (sum, { text }) => sum + estimateTokens(text),
    estimateTokens(system) + schema,
  );
}
