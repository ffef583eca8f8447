import { startAnthropicDouble, startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble, OpenAiDoubleOptions } from "@workflow/testkit";
import { pino } from "pino";
import { createModels } from "../../src/agents/models/create-models.ts";
import type { OpenModels } from "../../src/agents/models/create-models.ts";
import { ModelCallError } from "../../src/agents/models/model-call-error.ts";
import type { ModelAnswer, AskOptions, ModelQuestion } from "../../src/agents/models/model.ts";
import type { OpenAiApi } from "../../src/agents/models/openai.ts";

/** A way in which a model is asked. */
export interface Route {
  readonly name: string;
  readonly provider: "openai" | "anthropic";
  readonly api: OpenAiApi;
}

export const RESPONSES: Route = {
  name: "OpenAI's Responses",
  provider: "openai",
  api: "responses",
};
export const CHAT: Route = {
  name: "OpenAI's Chat Completions",
  provider: "openai",
  api: "chat",
};
export const ANTHROPIC: Route = {
  name: "Anthropic's Messages",
  provider: "anthropic",
  api: "auto",
};

/** All of them. */
export const ROUTES: readonly Route[] = [RESPONSES, CHAT, ANTHROPIC];

/** What is set for one test. */
export interface RouteOptions extends Pick<OpenAiDoubleOptions, "chat" | "responses"> {
  readonly model?: string;
  /** In place of the double's own key. */
  readonly key?: string;
  /** In place of the double's own address. */
  readonly baseUrl?: string;
  readonly dnsServers?: readonly string[];
}

/** Models whose one provider is a double. */
export interface ModelsHarness extends AsyncDisposable {
  readonly double: ModelDouble;
  readonly models: OpenModels;
  /** What the operator was told, in order. */
  readonly logged: () => readonly Record<string, unknown>[];
  ask(question?: Partial<ModelQuestion>, exchange?: Partial<AskOptions>): Promise<ModelAnswer>;
  /** The error of a question that has no answer. */
  fail(question?: Partial<ModelQuestion>, exchange?: Partial<AskOptions>): Promise<ModelCallError>;
}

const QUESTION: ModelQuestion = {
  system: "You are brief.",
  messages: [{ role: "user", text: "How much is it?" }],
  temperature: 0.5,
  maxTokens: 1_000,
  outputSchema: null,
};

const DEFAULT_MODELS = { openai: "gpt-6.1-terra", anthropic: "claude-sonnet-4-6" } as const;

/** Starts a double and asks it by the route. */
export async function startRoute(
  { provider, api }: Route,
  { model, key, baseUrl, dnsServers, chat, responses }: RouteOptions = {},
): Promise<ModelsHarness> {
  const double =
    provider === "openai"
      ? await startOpenAiDouble({ chat: chat ?? true, responses: responses ?? true })
      : await startAnthropicDouble();
  const lines: string[] = [];
  const own = {
    apiKey: key ?? double.key,
    baseUrl: baseUrl ?? double.baseUrl,
    model: model ?? DEFAULT_MODELS[provider],
  };
  const none = { baseUrl: "http://127.0.0.1:9", model: "none" };
  const models = createModels({
    openai: { ...(provider === "openai" ? own : none), api },
    anthropic: provider === "anthropic" ? own : none,
    dnsServers,
    logger: pino({ level: "trace" }, { write: (line) => void lines.push(line) }),
  });
  const ask: ModelsHarness["ask"] = (question = {}, exchange = {}) =>
    models.ask(
      provider,
      { ...QUESTION, ...question },
      {
        companyId: "company",
        signal: new AbortController().signal,
        timeoutMs: 30_000,
        leftMs: 30_000,
        onSent: () => {},
        ...exchange,
      },
    );
  return {
    double,
    models,
    logged: () => lines.map((line): Record<string, unknown> => JSON.parse(line)),
    ask,
    async fail(question, exchange) {
      const result = await ask(question, exchange).catch((error: unknown) => error);
      if (result instanceof ModelCallError) return result;
      throw new Error(`There was an answer, or another error: ${String(result)}`);
    },
    async [Symbol.asyncDispose]() {
      await models.close();
      await double.close();
    },
  };
}
