import { randomUUID } from "node:crypto";
import { isJsonObject } from "@workflow/json";
import type { DoubleResponse, RecordedRequest } from "./http-double.ts";
import { readObject, startModelDouble, textOf } from "./model-double.ts";
import type {
  AskedModel,
  ModelDialect,
  ModelDouble,
  ModelFailureKind,
  ModelSaying,
} from "./model-double.ts";

/** The differences between the double and Anthropic itself. */
export interface AnthropicDoubleOptions {
  /** The known models, and whether each takes a temperature; by default some of Anthropic's own. */
  models?: Readonly<Record<string, { sampling: boolean }>>;
  /** The valid API key; random by default. */
  key?: string;
}

const MODELS: Readonly<Record<string, { sampling: boolean }>> = {
  "claude-sonnet-5-5": { sampling: false },
  "claude-haiku-5-5": { sampling: false },
  "claude-sonnet-5": { sampling: false },
  "claude-sonnet-4-6": { sampling: true },
  "claude-sonnet-4-5": { sampling: true },
  "claude-test": { sampling: true },
};

/** Keywords that are answered 400, according to the guide to structured outputs. */
const UNSUPPORTED = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "maxItems",
  "uniqueItems",
  "oneOf",
  "not",
  "if",
  "patternProperties",
  "propertyNames",
];

/** The highest number of optional properties in a schema, all levels together. */
const OPTIONAL_MAX = 24;

/**
 * Starts a server that answers `POST /v1/messages` as Anthropic's published document says
 * (platform.claude.com, Messages). It refuses what Anthropic refuses: other keys, a missing version,
 * unknown models, settings out of range, and schemas that the structured mode does not accept.
 */
export function startAnthropicDouble(options: AnthropicDoubleOptions = {}): Promise<ModelDouble> {
  const { models = MODELS } = options;
  const key = options.key ?? `sk-ant-api03-${randomUUID()}${randomUUID()}`;
  const dialect: ModelDialect = {
    basePath: "",
    hasKey: ({ headers }) => headers["x-api-key"] === key,
    read: (request) =>
      `${request.method} ${request.path.split("?")[0]}` === "POST /v1/messages"
        ? read(request, models)
        : refuse(404, "not_found_error", "Not found"),
    say,
    fail: failure,
  };
  return startModelDouble(key, dialect);
}

function read(
  request: RecordedRequest,
  models: Readonly<Record<string, { sampling: boolean }>>,
): Omit<AskedModel, "hungUp" | "receivedAt"> | DoubleResponse {
  const body = readObject(request);
  if (request.headers["anthropic-version"] === undefined) {
    return invalid("anthropic-version: header is required");
  }
  if (body === null) return invalid("The request body is not valid JSON.");
  const model = String(body["model"]);
  const known = models[model];
  if (known === undefined) return refuse(404, "not_found_error", `model: ${model}`);
  const format = isJsonObject(body["output_config"]) ? body["output_config"]["format"] : undefined;
  const schema = isJsonObject(format) && isJsonObject(format["schema"]) ? format["schema"] : null;
  const refused = refuseParts(body, known) ?? refuseSchema(schema);
  if (refused !== null) return refused;
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  return {
    method: request.method,
    path: request.path,
    headers: request.headers,
    body,
    model,
    system: textOf(body["system"]),
    messages: messages.filter(isJsonObject).map(({ role, content }) => ({
      role: String(role),
      text: textOf(content),
    })),
    schema,
  };
}

function refuseParts(
  body: Record<string, unknown>,
  { sampling }: { sampling: boolean },
): DoubleResponse | null {
  const { temperature, messages } = body;
  const maxTokens = body["max_tokens"];
  if (maxTokens === undefined) return invalid("max_tokens: Field required");
  if (!Number.isInteger(maxTokens) || Number(maxTokens) < 1) {
    return invalid("max_tokens: Input should be greater than or equal to 1");
  }
  if (temperature !== undefined && !sampling) {
    return invalid("`temperature` is deprecated for this model.");
  }
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1)) {
    return invalid("temperature: range: 0..1");
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    return invalid("messages: at least one message is required");
  }
  const empty = messages.findIndex(
    (message: unknown) => isJsonObject(message) && textOf(message["content"]).trim() === "",
  );
  if (empty !== -1) return invalid(`messages.${empty}: text content blocks must be non-empty`);
  return null;
}

function refuseSchema(schema: Record<string, unknown> | null): DoubleResponse | null {
  if (schema === null) return null;
  const found = { optional: 0 };
  const why = refuseNode(schema, found);
  if (why !== null) return invalid(`output_config.format.schema: ${why}`);
  return found.optional > OPTIONAL_MAX
    ? invalid(
        "Schemas contains too many optional parameters, which would make the grammar too large.",
      )
    : null;
}

function refuseNode(node: unknown, found: { optional: number }): string | null {
  if (Array.isArray(node)) return firstRefused(node, found);
  if (!isJsonObject(node)) return null;
  const { type, properties, required, items, anyOf, allOf, $defs, definitions } = node;
  const unsupported = UNSUPPORTED.find((keyword) => node[keyword] !== undefined);
  if (unsupported !== undefined) {
    return `For '${String(type)}' type, property '${unsupported}' is not supported`;
  }
  if (type === "object" && node["additionalProperties"] !== false) {
    return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  }
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  found.optional += names.filter(
    (name) => !Array.isArray(required) || !required.includes(name),
  ).length;
  const maps = [properties, $defs, definitions]
    .filter(isJsonObject)
    .flatMap((map) => Object.values(map));
  return firstRefused([...maps, items, anyOf, allOf], found);
}

function firstRefused(nodes: readonly unknown[], found: { optional: number }): string | null {
  for (const node of nodes) {
    const why = refuseNode(node, found);
    if (why !== null) return why;
  }
  return null;
}

function invalid(message: string): DoubleResponse {
  return refuse(400, "invalid_request_error", message);
}

function refuse(status: number, type: string, message: string): DoubleResponse {
  const requestId = `req_${randomUUID()}`;
  return {
    status,
    headers: { "request-id": requestId },
    body: { type: "error", error: { type, message }, request_id: requestId },
  };
}

function failure(kind: ModelFailureKind, message: string | undefined): DoubleResponse {
  switch (kind) {
    case "invalid-request":
      return invalid(message ?? "Invalid request.");
    case "unauthorized":
      return refuse(401, "authentication_error", message ?? "invalid x-api-key");
    case "rate-limited": {
      const text = "This request would exceed your organization's rate limit.";
      return refuse(429, "rate_limit_error", message ?? text);
    }
    case "quota-exceeded": {
      const text = "Your credit balance is too low to access the Anthropic API.";
      return refuse(400, "invalid_request_error", message ?? text);
    }
    case "server-error":
      return refuse(500, "api_error", message ?? "Internal server error");
    case "overloaded":
      return refuse(529, "overloaded_error", message ?? "Overloaded");
    default:
      return kind satisfies never;
  }
}

function say({ model }: AskedModel, { text, ends, usage }: Required<ModelSaying>): unknown {
  const reasons = {
    complete: "end_turn",
    length: "max_tokens",
    refused: "refusal",
    filtered: "refusal",
  };
  return {
    id: `msg_${randomUUID()}`,
    type: "message",
    role: "assistant",
    model,
    content: text === "" ? [] : [{ type: "text", text }],
    stop_reason: reasons[ends],
    stop_sequence: null,
    ...(usage === null
      ? {}
      : {
          usage: {
            input_tokens: usage.inputTokens,
            output_tokens: usage.outputTokens,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            service_tier: "standard",
          },
        }),
  };
}
