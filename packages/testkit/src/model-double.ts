import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { isJsonObject } from "@workflow/json";
import { startHttpDouble } from "./http-double.ts";
import type { DoubleResponse, RecordedRequest } from "./http-double.ts";
import { answerTroubled } from "./trouble.ts";

/** Tokens as a provider counts them. */
export interface ModelTokens {
  inputTokens: number;
  outputTokens: number;
}

/** An answer of a model. */
export interface ModelSaying {
  text: string;
  /** `complete` by default. With `refused` the text is the refusal, with `filtered` the remaining text. */
  ends?: "complete" | "length" | "refused" | "filtered";
  /** A quarter of the characters by default; null when the server reports none. */
  usage?: ModelTokens | null;
}

/** Ways in which an AI provider fails to answer. */
export const MODEL_TROUBLES = [
  "invalid-request",
  "unauthorized",
  "rate-limited",
  "quota-exceeded",
  "server-error",
  "overloaded",
  "times-out",
  "redirects",
  "resets",
  "hangs",
  "html",
  "huge",
  "broken-json",
] as const;

/** One of these failures; `resets` breaks off within the body, `huge` does not end. */
export type ModelTrouble = (typeof MODEL_TROUBLES)[number];

/** A failure instead of an answer. */
export interface ModelTroubled {
  trouble: ModelTrouble;
  /** Headers of the failure, such as `retry-after`. */
  headers?: Record<string, string>;
  /** A message that replaces the provider's. */
  message?: string;
}

/** The reply of a double to one request; a string is a complete answer. */
export type ModelReply = string | ModelSaying | ModelTroubled;

/** A question to a model, in a form that does not depend on the API. */
export interface AskedModel {
  method: string;
  /** The path with its query, as received. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed body. */
  body: Record<string, unknown>;
  model: string;
  /** The texts of the roles system and developer. */
  system: string;
  /** The conversation, oldest first. */
  messages: { role: string; text: string }[];
  /** The schema for the structured mode; null without one. */
  schema: Record<string, unknown> | null;
  /** Whether the caller closed the connection before the answer. */
  hungUp: boolean;
  receivedAt: Date;
}

/** A server that answers like an AI provider. */
export interface ModelDouble {
  /** The value for the setting of the provider's base URL. */
  baseUrl: string;
  /** The only valid key. */
  key: string;
  /** The well-formed questions, in the order of arrival. */
  asked: AskedModel[];
  /** All requests, including refused ones. */
  requests: readonly RecordedRequest[];
  /** The answers of the next requests, one each; `reply` decides when it is empty. */
  script: ModelReply[];
  /** Makes the answers that are not in the script; it may take its time. */
  reply: (asked: AskedModel) => ModelReply | Promise<ModelReply>;
  close(): Promise<void>;
}

/** The differences between the providers' APIs. */
export interface ModelDialect {
  /** The end of the base URL, below the host. */
  basePath: string;
  /** Whether the request has the key. */
  hasKey(request: RecordedRequest): boolean;
  /** The question, or the API's refusal of it. */
  read(request: RecordedRequest): Omit<AskedModel, "hungUp" | "receivedAt"> | DoubleResponse;
  /** The body of a success. */
  say(asked: AskedModel, saying: Required<ModelSaying>): unknown;
  /** The answer to failures that the API describes. */
  fail(kind: ModelFailureKind, message: string | undefined): DoubleResponse;
}

/** Failures for which an API has a body of its own. */
export type ModelFailureKind = Extract<
  ModelTrouble,
  | "invalid-request"
  | "unauthorized"
  | "rate-limited"
  | "quota-exceeded"
  | "server-error"
  | "overloaded"
>;

/** Starts a server that speaks a provider's dialect. */
export async function startModelDouble(key: string, dialect: ModelDialect): Promise<ModelDouble> {
  const asked: AskedModel[] = [];

  const answer = async (
    request: RecordedRequest,
    response: ServerResponse,
  ): Promise<DoubleResponse | void> => {
    if (!dialect.hasKey(request)) return dialect.fail("unauthorized", undefined);
    const read = dialect.read(request);
    if (!("model" in read)) return read;
    const question = { ...read, hungUp: false, receivedAt: request.receivedAt };
    asked.push(question);
    response.once("close", () => {
      question.hungUp = !response.writableFinished;
    });
    const reply = toReply(double.script.shift() ?? (await double.reply(question)));
    if ("trouble" in reply) return fail(dialect, reply, response);
    const usage = reply.usage === undefined ? countTokens(question, reply.text) : reply.usage;
    return { body: dialect.say(question, { ends: "complete", ...reply, usage }) };
  };

  const http = await startHttpDouble(answer);
  const double: ModelDouble = {
    baseUrl: `${http.url}${dialect.basePath}`,
    key,
    asked,
    requests: http.requests,
    script: [],
    reply: () => "The answer.",
    close: () => http.close(),
  };
  return double;
}

function toReply(reply: ModelReply): ModelSaying | ModelTroubled {
  return typeof reply === "string" ? { text: reply } : reply;
}

function fail(
  dialect: ModelDialect,
  { trouble, headers = {}, message }: ModelTroubled,
  response: ServerResponse,
): DoubleResponse | void {
  switch (trouble) {
    case "times-out":
      return { status: 408, body: "", headers };
    case "redirects":
      return { status: 307, headers: { location: "http://127.0.0.1:9/elsewhere", ...headers } };
    case "resets":
      return breakOff(response);
    case "hangs":
    case "html":
    case "huge":
    case "broken-json":
      return answerTroubled(trouble, response);
    default: {
      const failed = dialect.fail(trouble, message);
      return { ...failed, headers: { ...failed.headers, ...headers } };
    }
  }
}

/** Sends the head and half of a body, and then resets the connection. */
function breakOff(response: ServerResponse): void {
  const { socket } = response;
  response.writeHead(200, { "content-type": "application/json", "content-length": 1_000 });
  response.write('{"id":"half', () => socket?.resetAndDestroy());
}

/** About as many tokens as providers count: one for four characters. */
function countTokens({ system, messages }: AskedModel, text: string): ModelTokens {
  const asked = messages.reduce((sum, message) => sum + message.text.length, system.length);
  return { inputTokens: Math.ceil(asked / 4) + 8, outputTokens: Math.ceil(text.length / 4) };
}

/** The object in a request's body; null for another body. */
export function readObject({ body }: RecordedRequest): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The text of a message's content: a string, or parts that have one each. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: unknown) => (isJsonObject(part) ? String(part["text"]) : "")).join("");
}
