import { ModelStatusError } from "./call-failure.ts";
import { ModelCallError } from "./model-call-error.ts";
import type { ModelAnswer } from "./model.ts";

/** The words with which servers refuse a schema, or a structured mode. */
const FORMAT_WORDS =
  /response_format|json_schema|text\.format|output_config|output_format|schema|grammar/i;

const FORMAT_STATUSES: ReadonlySet<number> = new Set([400, 422]);

const WARNING =
  "The provider does not take the output schema in its structured mode; the prompt alone asked for it.";

/**
 * Asks with the schema in the provider's structured mode, and without it when the provider refuses the
 * schema. Providers accept less than they document, and compatible servers still less.
 *
 * @param ask gets whether to pass the schema
 */
export async function withoutSchemaIfRefused(
  hasSchema: boolean,
  ask: (withSchema: boolean) => Promise<ModelAnswer>,
): Promise<ModelAnswer> {
  if (!hasSchema) return ask(false);
  try {
    return await ask(true);
  } catch (error) {
    if (!refusesFormat(error)) throw error;
    const answer = await ask(false);
    return { ...answer, warnings: [...answer.warnings, WARNING] };
  }
}

function refusesFormat(error: unknown): boolean {
  if (!(error instanceof ModelCallError) || error.failure.code !== "AGENT_REFUSED") return false;
  const { status } = error.failure;
  if (status === null) return true;
  if (!(error instanceof ModelStatusError) || !FORMAT_STATUSES.has(status)) return false;
  return FORMAT_WORDS.test(`${error.providerCode} ${error.words}`);
}
