/** The answer of a receiver that plays a server compatible with OpenAI: a short completion. */
export const MODEL_ANSWER = JSON.stringify({
  id: "chatcmpl-bench",
  object: "chat.completion",
  created: 1_790_000_000,
  model: "bench",
  choices: [
    { index: 0, message: { role: "assistant", content: "approve" }, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 300, completion_tokens: 2, total_tokens: 302 },
});
