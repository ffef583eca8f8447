import { randomUUID } from "node:crypto";
import { isJsonObject } from "@workflow/json";
import type { DoubleResponse, RecordedRequest } from "./http-double.ts";
import { readObject, startModelDouble, textOf } from "./model-double.ts";
import type { AskedModel, ModelDialect, ModelDouble, ModelFailureKind } from "./model-double.ts";
import { sayInChat, sayInResponse } from "./openai-answers.ts";
import { refuseStrictSchema } from "./openai-strict-schema.ts";

/** The differences between the double and OpenAI itself. */
export interface OpenAiDoubleOptions {
  /** The known models, and when each takes a temperature; by default some of OpenAI's own. */
  models?: Readonly<Record<string, OpenAiSampling>>;
  /** Without it `/chat/completions` is unknown; true by default. */
  chat?: boolean;
  /** Without it `/responses` is unknown, as on most compatible servers; true by default. */
  responses?: boolean;
  /** The valid API key; random by default. */
  key?: string;
}

/** When a model of OpenAI takes a temperature; all but `always` are reasoning models. */
export type OpenAiSampling = "always" | "without-reasoning" | "never";

const MODELS: Readonly<Record<string, OpenAiSampling>> = {
  "gpt-6.1-terra": "without-reasoning",
  "gpt-6.1-sol": "never",
  "gpt-5.1": "without-reasoning",
  "gpt-4.1": "always",
  "gpt-test": "always",
};

/**
 * Starts a server that answers `POST /v1/responses` and `POST /v1/chat/completions` as OpenAI's
 * published document says (openai-openapi). It refuses what OpenAI refuses: other keys, unknown models,
 * settings that a model does not accept, and schemas that do not fit the strict mode.
 */
export function startOpenAiDouble(options: OpenAiDoubleOptions = {}): Promise<ModelDouble> {
  const { models = MODELS, chat = true, responses = true } = options;
  const key = options.key ?? `sk-proj-${randomUUID()}${randomUUID()}`;
  const dialect: ModelDialect = {
    basePath: "/v1",
    hasKey: ({ headers }) => headers.authorization === `Bearer ${key}`,
    read(request) {
      const call = `${request.method} ${request.path.split("?")[0]}`;
      if (chat && call === "POST /v1/chat/completions") return read(request, readChat, models);
      if (responses && call === "POST /v1/responses") return read(request, readResponses, models);
      return refuse(404, `Invalid URL (${request.method} ${request.path})`);
    },
    say: (asked, saying) =>
      asked.path.startsWith("/v1/chat") ? sayInChat(asked, saying) : sayInResponse(asked, saying),
    fail: (kind, message) => failure(kind, message, key),
  };
  return startModelDouble(key, dialect);
}

/** The parts of a request and an answer that differ between the two routes. */
interface RouteParts {
  conversation: unknown;
  format: unknown;
  schemaParam: string;
  reasoningEffort: unknown;
  maxTokens: unknown;
  /** The limit's name that reasoning models refuse; null when they know it. */
  wrongLimit: string | null;
}

function readChat(body: Record<string, unknown>): RouteParts {
  const format = isJsonObject(body["response_format"]) ? body["response_format"] : undefined;
  const nested =
    format !== undefined && isJsonObject(format["json_schema"]) ? format["json_schema"] : {};
  return {
    conversation: body["messages"],
    format: format === undefined ? undefined : { ...nested, type: format["type"] },
    schemaParam: "response_format",
    reasoningEffort: body["reasoning_effort"],
    maxTokens: body["max_completion_tokens"] ?? body["max_tokens"],
    wrongLimit: body["max_tokens"] === undefined ? null : "max_tokens",
  };
}

function readResponses(body: Record<string, unknown>): RouteParts {
  const { text, reasoning, input } = body;
  return {
    conversation: typeof input === "string" ? [{ role: "user", content: input }] : input,
    format: isJsonObject(text) ? text["format"] : undefined,
    schemaParam: "text.format.schema",
    reasoningEffort: isJsonObject(reasoning) ? reasoning["effort"] : undefined,
    maxTokens: body["max_output_tokens"],
    wrongLimit: null,
  };
}

function read(
  request: RecordedRequest,
  toParts: (body: Record<string, unknown>) => RouteParts,
  models: Readonly<Record<string, OpenAiSampling>>,
): Omit<AskedModel, "hungUp" | "receivedAt"> | DoubleResponse {
  const body = readObject(request);
  if (body === null) return refuse(400, "We could not parse the JSON body of your request.");
  const model = String(body["model"]);
  const sampling = models[model];
  if (sampling === undefined) {
    const message = `The model \`${model}\` does not exist or you do not have access to it.`;
    return refuse(404, message, { code: "model_not_found" });
  }
  const parts = toParts(body);
  const refused = refuseParts(parts, body, sampling);
  if (refused !== null) return refused;
  const { conversation, format } = parts;
  const all = (Array.isArray(conversation) ? conversation : [])
    .filter(isJsonObject)
    .map((message) => ({
      role: String(message["role"]),
      text: textOf(message["content"]),
    }));
  const isSystem = ({ role }: { role: string }): boolean =>
    role === "system" || role === "developer";
  return {
    method: request.method,
    path: request.path,
    headers: request.headers,
    body,
    model,
    system: [textOf(body["instructions"]), ...all.filter(isSystem).map(({ text }) => text)].join(
      "",
    ),
    messages: all.filter((message) => !isSystem(message)),
    schema: isJsonObject(format) && isJsonObject(format["schema"]) ? format["schema"] : null,
  };
}

function refuseParts(
  parts: RouteParts,
  body: Record<string, unknown>,
  sampling: OpenAiSampling,
): DoubleResponse | null {
  const { conversation, format, maxTokens, reasoningEffort, schemaParam, wrongLimit } = parts;
  const { temperature } = body;
  if (!Array.isArray(conversation) || conversation.length === 0) {
    return refuse(400, "Missing required parameter: 'input' or 'messages'.");
  }
  if (maxTokens !== undefined && (!Number.isInteger(maxTokens) || Number(maxTokens) < 1)) {
    return refuse(400, "Invalid value for the limit of tokens.", {
      code: "integer_below_min_value",
    });
  }
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 2)) {
    return refuse(400, "Invalid 'temperature': expected a value between 0 and 2.", {
      param: "temperature",
    });
  }
  const samples =
    sampling === "always" || (sampling === "without-reasoning" && reasoningEffort === "none");
  if (temperature !== undefined && !samples) return refuseParameter("temperature");
  if (sampling === "always" && reasoningEffort !== undefined)
    return refuseParameter("reasoning_effort");
  if (sampling === "never" && reasoningEffort === "none")
    return refuseParameter("reasoning_effort");
  if (sampling !== "always" && wrongLimit !== null) return refuseParameter(wrongLimit);
  return isJsonObject(format) ? refuseFormat(format, schemaParam) : null;
}

function refuseFormat(format: Record<string, unknown>, param: string): DoubleResponse | null {
  const { type, name, schema, strict } = format;
  if (type !== "json_schema") return null;
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    return refuse(400, "Invalid name of the schema.", {
      code: "invalid_value",
      param: `${param}.name`,
    });
  }
  const why = strict === true && isJsonObject(schema) ? refuseStrictSchema(schema) : null;
  if (why === null) return null;
  const message = `Invalid schema for response_format '${name}': ${why}`;
  return refuse(400, message, { code: "invalid_json_schema", param });
}

function refuseParameter(param: string): DoubleResponse {
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return refuse(400, message, { code: "unsupported_parameter", param });
}

/** The machine-readable part of a refusal. */
interface RefusalWords {
  code?: string;
  param?: string;
  type?: string;
}

function refuse(
  status: number,
  message: string,
  { code, param, type = "invalid_request_error" }: RefusalWords = {},
): DoubleResponse {
  const headers = { "x-request-id": `req_${randomUUID()}` };
  return {
    status,
    headers,
    body: { error: { message, type, param: param ?? null, code: code ?? null } },
  };
}

function failure(kind: ModelFailureKind, message: string | undefined, key: string): DoubleResponse {
  switch (kind) {
    case "invalid-request":
      return refuse(400, message ?? "Invalid request.", { code: "invalid_request" });
    case "unauthorized": {
      // OpenAI repeats both ends of a key that it refuses.
      const shown = `${key.slice(0, 8)}${"*".repeat(32)}${key.slice(-4)}`;
      const text = `Incorrect API key provided: ${shown}. You can find your API key at https://platform.openai.com/account/api-keys.`;
      return refuse(401, message ?? text, { code: "invalid_api_key" });
    }
    case "rate-limited": {
      const text = "Rate limit reached for requests per min (RPM): Limit 3, Used 3, Requested 1.";
      return refuse(429, message ?? text, { code: "rate_limit_exceeded", type: "requests" });
    }
    case "quota-exceeded": {
      const text = "You exceeded your current quota, please check your plan and billing details.";
      return refuse(429, message ?? text, {
        code: "insufficient_quota",
        type: "insufficient_quota",
      });
    }
    case "server-error": {
      const text = "The server had an error while processing your request. Sorry about that!";
      return refuse(500, message ?? text, { type: "server_error" });
    }
    case "overloaded": {
      const text =
        "That model is currently overloaded with other requests. You can retry your request.";
      return refuse(503, message ?? text, { type: "server_error" });
    }
    default:
      return kind satisfies never;
  }
}
