import { createScrubber } from "@workflow/scrubber";
import type { Scrubber } from "@workflow/scrubber";
import { storableText } from "../../provider-http/storable-text.ts";
import type { AgentAnswer, AgentFailure } from "../agent-answer.ts";
import { ModelCallError } from "../models/model-call-error.ts";

/**
 * Removes secrets from the words of a model or its provider (D19), and characters that Postgres does not
 * store.
 */
export interface AnswerScrubber {
  answer(answer: AgentAnswer): Promise<AgentAnswer>;
  /** The same error where nothing has to be removed. Its cause is removed too, as it holds the same words. */
  error(error: ModelCallError): Promise<ModelCallError>;
}

/** The end of a provider's words that were cut. */
const CUT_MARK = "…";

/** The scrubber is prepared when there is something to scrub. */
export function createAnswerScrubber(secrets: readonly string[]): AnswerScrubber {
  return {
    async answer(answer) {
      const rawOutput = storableText(answer.rawOutput);
      const scrubber = createScrubber(secrets);
      if (scrubber === null)
        return rawOutput === answer.rawOutput ? answer : { ...answer, rawOutput };
      const isCut = mayBeCut(answer);
      return {
        ...answer,
        rawOutput: await cleanText(scrubber, rawOutput, isCut),
        outputJson: await cleanJson(scrubber, answer.outputJson, isCut),
        error: answer.error === null ? null : await cleanFailure(scrubber, answer.error),
      };
    },
    async error(error) {
      const scrubber = createScrubber(secrets);
      if (scrubber === null) return error;
      return new ModelCallError(await cleanExcerpt(scrubber, error.message), error.failure);
    },
  };
}

/** The text before the dots may end in the beginning of a secret. */
async function cleanExcerpt(scrubber: Scrubber, message: string): Promise<string> {
  const text = message.endsWith(CUT_MARK) ? message.slice(0, -CUT_MARK.length) : message;
  const clean = await scrubber.cutTextInTurns(text, text.length);
  return text === message ? clean : `${clean}${CUT_MARK}`;
}

/** A model or filter that breaks off may do so within a secret, so the text may end in a half of it. */
function mayBeCut({ finishReason, error }: AgentAnswer): boolean {
  return finishReason !== "stop" || error?.code === "AGENT_OUTPUT_TOO_LARGE";
}

/**
 * A model may write any character of a secret as an escape of JSON. A text with such a secret is stored with
 * the escapes resolved.
 */
async function cleanText(scrubber: Scrubber, text: string, isCut: boolean): Promise<string> {
  const clean = (each: string): Promise<string> =>
    isCut ? scrubber.cutTextInTurns(each, each.length) : scrubber.textInTurns(each);
  const resolved = text.replaceAll(/\\+u([\da-f]{4})/gi, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const cleanResolved = resolved === text ? text : await clean(resolved);
  return cleanResolved === resolved ? clean(text) : storableText(cleanResolved);
}

async function cleanJson(
  scrubber: Scrubber,
  json: string | null,
  isCut: boolean,
): Promise<string | null> {
  if (json === null) return null;
  const value: unknown = JSON.parse(json);
  // Without a schema the output is the text, and ends like it.
  if (typeof value === "string") return JSON.stringify(await cleanText(scrubber, value, isCut));
  const clean = await scrubber.jsonInTurns(value);
  return clean === value ? json : JSON.stringify(clean);
}

async function cleanFailure(
  scrubber: Scrubber,
  { code, message, details }: AgentFailure,
): Promise<AgentFailure> {
  const clean = await scrubber.jsonInTurns(details);
  return {
    code,
    message: await cleanExcerpt(scrubber, message),
    details: Object.fromEntries(Object.entries(Object(clean))),
  };
}
