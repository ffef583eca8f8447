import { createScrubber } from "@workflow/scrubber";
import type { Scrubber } from "@workflow/scrubber";
import { storableText } from "../../provider-http/storable-text.ts";
import type { AgentAnswer, AgentFailure } from "../agent-answer.ts";
import { ModelCallError } from "../models/model-call-error.ts";

/**
 * Removes secrets (D19), and characters that Postgres does not store, from the texts of a model or its
 * provider.
 */
export interface AnswerScrubber {
  answer(answer: AgentAnswer): Promise<AgentAnswer>;
  /**
   * The same error when it contains no secret. Otherwise the cause is removed too, because it has the
   * same text.
   */
  error(error: ModelCallError): Promise<ModelCallError>;
}

/** The end of a provider's text that was cut. */
const CUT_MARK = "…";

/** A scrubber that is prepared when there is something to scrub. */
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

/** Whether the text may end in a part of a secret, because the model or a filter broke off. */
function mayBeCut({ finishReason, error }: AgentAnswer): boolean {
  return finishReason !== "stop" || error?.code === "AGENT_OUTPUT_TOO_LARGE";
}

/**
 * A model may write any character of a secret as a JSON escape. A text that contains such a secret is
 * stored with resolved escapes.
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
  // Without a schema the output is the text, and may be cut like the text.
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
