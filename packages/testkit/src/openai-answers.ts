import { randomUUID } from "node:crypto";
import type { AskedModel, ModelSaying } from "./model-double.ts";

/** The body of an answer of Chat Completions. */
export function sayInChat(
  { model }: AskedModel,
  { text, ends, usage }: Required<ModelSaying>,
): unknown {
  const refused = ends === "refused";
  const reasons = {
    complete: "stop",
    refused: "stop",
    length: "length",
    filtered: "content_filter",
  };
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: refused ? null : text,
          refusal: refused ? text : null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: reasons[ends],
      },
    ],
    ...(usage === null
      ? {}
      : {
          usage: {
            prompt_tokens: usage.inputTokens,
            completion_tokens: usage.outputTokens,
            total_tokens: usage.inputTokens + usage.outputTokens,
            prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
            completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
          },
        }),
    service_tier: "default",
  };
}

/** The body of an answer of the Responses API. */
export function sayInResponse(
  { model, body }: AskedModel,
  { text, ends, usage }: Required<ModelSaying>,
): unknown {
  const incomplete = { length: "max_output_tokens", filtered: "content_filter" };
  const reason = ends === "length" || ends === "filtered" ? incomplete[ends] : null;
  const status = reason === null ? "completed" : "incomplete";
  const content =
    ends === "refused"
      ? { type: "refusal", refusal: text }
      : { type: "output_text", text, annotations: [], logprobs: [] };
  return {
    id: `resp_${randomUUID()}`,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status,
    error: null,
    incomplete_details: reason === null ? null : { reason },
    model,
    output: [
      { type: "message", id: `msg_${randomUUID()}`, status, role: "assistant", content: [content] },
    ],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    tool_choice: "auto",
    tools: [],
    truncation: "disabled",
    ...(usage === null
      ? {}
      : {
          usage: {
            input_tokens: usage.inputTokens,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: usage.outputTokens,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.inputTokens + usage.outputTokens,
          },
        }),
    metadata: {},
  };
}
