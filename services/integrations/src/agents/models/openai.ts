import {
  OpenAIChatLanguageModel,
  openaiModelCatalog,
  OpenAIResponsesLanguageModel,
} from "@ai-sdk/openai/internal";
import type { SdkCallOptions, SdkModel } from "./ask-once.ts";
import { ModelStatusError } from "./call-failure.ts";
import type { ModelAnswer, ModelQuestion } from "./model.ts";
import type { ProviderModel, ProviderSettings, SendCall } from "./provider-model.ts";
import { openAiSchemaMode } from "./strict-schema.ts";
import type { OpenAiSchemaMode } from "./strict-schema.ts";
import { withoutSchemaIfRefused } from "./without-schema.ts";

/** The two APIs of OpenAI and compatible servers; `auto` chooses one. */
export const OPENAI_APIS = ["auto", "responses", "chat"] as const;
export type OpenAiApi = (typeof OPENAI_APIS)[number];

type Route = Exclude<OpenAiApi, "auto">;

/**
 * Asks OpenAI itself by the Responses API, and compatible servers by Chat Completions, which nearly all
 * of them have. A server that answers 404 to Chat Completions, and not because of the model, is asked
 * by Responses.
 */
export function createOpenAiModel(settings: ProviderSettings, api: OpenAiApi): ProviderModel {
  const { model } = settings;
  const isOpenAi = isOpenAiItself(settings.baseUrl);
  let preferred: Route = isOpenAi ? "responses" : "chat";

  const askBy = (route: Route, question: ModelQuestion, send: SendCall): Promise<ModelAnswer> => {
    const mode = question.outputSchema === null ? null : openAiSchemaMode(question.outputSchema);
    return withoutSchemaIfRefused(mode !== null, (withSchema) =>
      send({
        createModel: (fetch) => createSdkModel(settings, route, fetch),
        options: {
          ...(canStopReasoning(model) ? { reasoning: "none" } : {}),
          ...toFormat(question, withSchema ? mode : null, isOpenAi || route === "responses"),
        },
      }),
    );
  };

  return {
    async ask(question, send) {
      if (api !== "auto") return askBy(api, question, send);
      if (isOpenAi) return askBy("responses", question, send);
      const first = preferred;
      try {
        return await askBy(first, question, send);
      } catch (error) {
        if (!isUnknownRoute(error, model)) throw error;
        const other: Route = first === "chat" ? "responses" : "chat";
        const answer = await askByOther(askBy(other, question, send), error);
        preferred = other;
        return answer;
      }
    },
  };
}

/**
 * The package's main module reads the environment on import and fails at an empty address there, so the
 * classes are imported directly.
 */
function createSdkModel(
  { apiKey, baseUrl, model }: ProviderSettings,
  route: Route,
  fetch: typeof globalThis.fetch,
): SdkModel {
  const config = {
    provider: `openai.${route}`,
    url: ({ path }: { path: string }) => `${baseUrl}${path}`,
    headers: { authorization: `Bearer ${apiKey}` },
    fetch,
  };
  return route === "chat"
    ? new OpenAIChatLanguageModel(model, config)
    : new OpenAIResponsesLanguageModel(model, config);
}

/** When the server knows neither route, the error of the first one is thrown. */
async function askByOther(asking: Promise<ModelAnswer>, first: unknown): Promise<ModelAnswer> {
  try {
    return await asking;
  } catch (error) {
    throw error instanceof ModelStatusError && error.failure.status === 404 ? first : error;
  }
}

/** OpenAI's hosts, those of its regions included. */
function isOpenAiItself(baseUrl: string): boolean {
  return /(?:^|\.)openai\.com$/.test(URL.parse(baseUrl)?.hostname ?? "");
}

/** A 404 about the model comes from a route that the server knows. */
function isUnknownRoute(error: unknown, model: string): boolean {
  return (
    error instanceof ModelStatusError &&
    error.failure.status === 404 &&
    error.providerCode !== "model_not_found" &&
    !error.words.includes(model)
  );
}

/**
 * Whether a model can work without reasoning. Only then such a model takes a temperature, and its token
 * limit is that of the answer. Other models reason by the provider's defaults.
 */
function canStopReasoning(model: string): boolean {
  const undated = model.replace(/-\d{4}-\d{2}-\d{2}$/, "");
  if (!Object.hasOwn(openaiModelCatalog, undated)) return false;
  const reasoning = openaiModelCatalog[undated]?.capabilities.language?.reasoning;
  return (
    reasoning !== undefined &&
    Reflect.get(reasoning, "sampling") === "reasoning-effort-none" &&
    reasoning.efforts?.includes("none") === true
  );
}

/**
 * OpenAI may store questions of either API, so `store` is false. Chat Completions of other servers do
 * not know `store`.
 */
function toFormat(
  { outputSchema }: ModelQuestion,
  mode: OpenAiSchemaMode,
  canStore: boolean,
): Pick<SdkCallOptions, "responseFormat" | "providerOptions"> {
  const store = canStore ? { store: false } : {};
  if (outputSchema === null || mode === null) return { providerOptions: { openai: store } };
  return {
    responseFormat: { type: "json", name: "answer", schema: { ...outputSchema } },
    providerOptions: { openai: { ...store, strictJsonSchema: mode === "strict" } },
  };
}
