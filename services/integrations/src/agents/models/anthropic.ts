import {
  AnthropicLanguageModel,
  getAnthropicLanguageModelEntry,
  supportsNativeStructuredOutputSchema,
} from "@ai-sdk/anthropic/internal";
import type { SdkCallOptions } from "./ask-once.ts";
import type { ModelQuestion } from "./model.ts";
import type { ProviderModel, ProviderSettings } from "./provider-model.ts";
import { withoutSchemaIfRefused } from "./without-schema.ts";

/**
 * Asks Anthropic, or a compatible server, by the Messages API. The structured mode closes all objects,
 * so it gets only schemas without open objects. A forced tool is no alternative, because reasoning
 * models refuse it.
 */
export function createAnthropicModel(settings: ProviderSettings): ProviderModel {
  const { apiKey, model } = settings;
  const config = {
    provider: "anthropic.messages",
    baseURL: toVersioned(settings.baseUrl),
    headers: { "anthropic-version": "2023-06-01", "x-api-key": apiKey },
  };
  const { capabilities } = getAnthropicLanguageModelEntry(model);
  const { structuredOutput, sampling } = capabilities.language;
  return {
    ask: (question, send) => {
      const { outputSchema } = question;
      const fits = structuredOutput.native && outputSchema !== null && fitsNative(outputSchema);
      return withoutSchemaIfRefused(fits, (withSchema) =>
        send({
          // The package's main module reads the environment on import and fails at an empty address
          // there, so the class is imported directly.
          createModel: (fetch) => new AnthropicLanguageModel(model, { ...config, fetch }),
          options: {
            // Models without a temperature reason unless they are told not to, and reasoning costs
            // tokens of the answer.
            ...(sampling.temperature === true ? {} : { reasoning: "none" }),
            ...(withSchema ? toFormat(question) : {}),
          },
        }),
      );
    },
  };
}

/**
 * ANTHROPIC_BASE_URL is the host, as for Anthropic's own libraries; the SDK expects the version in the
 * path too.
 */
function toVersioned(baseUrl: string): string {
  return /\/v\d+$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1`;
}

function fitsNative(schema: NonNullable<ModelQuestion["outputSchema"]>): boolean {
  return schema["type"] === "object" && supportsNativeStructuredOutputSchema({ ...schema });
}

function toFormat({
  outputSchema,
}: ModelQuestion): Pick<SdkCallOptions, "responseFormat" | "providerOptions"> {
  if (outputSchema === null) return {};
  return {
    responseFormat: { type: "json", name: "answer", schema: { ...outputSchema } },
    providerOptions: { anthropic: { structuredOutputMode: "outputFormat" } },
  };
}
