import type { ActionCase, ProviderCases } from "./action-case.ts";

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

/** A list of two pages: the cursor of the first is sent back, and an empty one is the end. */
function pagesOf(
  action: string,
  path: string,
  { inputs = {}, items, member }: { inputs?: object; items: string; member: string },
): ActionCase {
  const query = Object.fromEntries(Object.entries(inputs));
  return {
    action,
    what: "page by page",
    inputs: { ...inputs, limit: 250 },
    exchanges: [
      {
        request: { method: "GET", path, query: { ...query, limit: "200" } },
        answer: {
          body: {
            ok: true,
            [items]: [{ id: "1" }],
            response_metadata: { next_cursor: "dGVhbTpDMDYxRkE1UEI=" },
          },
        },
      },
      {
        request: {
          method: "GET",
          path,
          query: { ...query, limit: "200", cursor: "dGVhbTpDMDYxRkE1UEI=" },
        },
        answer: {
          body: { ok: true, [items]: [{ id: "2" }], response_metadata: { next_cursor: "" } },
        },
      },
    ],
    output: { [member]: [{ id: "1" }, { id: "2" }], hasMore: false },
  };
}

function refusal(
  what: string,
  answer: ActionCase["exchanges"][number]["answer"],
  failure: Partial<NonNullable<ActionCase["failure"]>> & { code: string },
): ActionCase {
  return {
    action: "sendMessage",
    what,
    inputs: { channel: "C1", text: "Hello" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/chat.postMessage",
          headers: JSON_TYPE,
          json: { channel: "C1", text: "Hello" },
        },
        answer,
      },
    ],
    failure: { status: 200, message: failure.code, retryable: false, ...failure },
  };
}

const writes: readonly ActionCase[] = [
  {
    action: "sendMessage",
    inputs: {
      channel: "C1",
      text: "Paid",
      blocks: [{ type: "divider" }],
      thread_ts: "1712345678.123456",
      reply_broadcast: true,
      unfurl_links: false,
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/chat.postMessage",
          headers: JSON_TYPE,
          json: {
            channel: "C1",
            text: "Paid",
            blocks: [{ type: "divider" }],
            thread_ts: "1712345678.123456",
            reply_broadcast: true,
            unfurl_links: false,
          },
        },
        answer: { body: { ok: true, channel: "C1", ts: "1.2", message: { text: "Paid" } } },
      },
    ],
    output: { ok: true, channel: "C1", ts: "1.2", message: { text: "Paid" } },
  },
  {
    action: "sendMessage",
    what: "with neither text nor blocks",
    inputs: { channel: "C1" },
    exchanges: [],
    refused: "text",
  },
  {
    action: "sendMessage",
    what: "into a thread if there is one, which templates decide",
    inputs: { channel: "C1", text: "Hi", blocks: [], thread_ts: null, reply_broadcast: true },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/chat.postMessage",
          headers: JSON_TYPE,
          json: { channel: "C1", text: "Hi" },
        },
        answer: { body: { ok: true, ts: "1.1" } },
      },
    ],
    output: { ok: true, ts: "1.1" },
  },
  {
    action: "updateMessage",
    inputs: { channel: "C1", ts: "1712345678.123456", text: "Refunded" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/chat.update",
          headers: JSON_TYPE,
          json: { channel: "C1", ts: "1712345678.123456", text: "Refunded" },
        },
        answer: { body: { ok: true, channel: "C1", ts: "1712345678.123456", text: "Refunded" } },
      },
    ],
    output: { ok: true, channel: "C1", ts: "1712345678.123456", text: "Refunded" },
  },
  {
    action: "addReaction",
    inputs: { channel: "C1", timestamp: "1712345678.123456", name: "eyes" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/reactions.add",
          headers: JSON_TYPE,
          json: { channel: "C1", timestamp: "1712345678.123456", name: "eyes" },
        },
        answer: { body: { ok: true } },
      },
    ],
    output: { ok: true },
  },
  {
    action: "createChannel",
    inputs: { name: "invoices-2026", is_private: true },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/conversations.create",
          headers: JSON_TYPE,
          json: { name: "invoices-2026", is_private: true },
        },
        answer: { body: { ok: true, channel: { id: "C9", name: "invoices-2026" } } },
      },
    ],
    output: { ok: true, channel: { id: "C9", name: "invoices-2026" } },
  },
  {
    action: "inviteToChannel",
    inputs: { channel: "C9", users: ["U1", "U2"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/conversations.invite",
          headers: JSON_TYPE,
          json: { channel: "C9", users: "U1,U2" },
        },
        answer: { body: { ok: true, channel: { id: "C9" } } },
      },
    ],
    output: { ok: true, channel: { id: "C9" } },
  },
];

const reads: readonly ActionCase[] = [
  pagesOf("listMessages", "/conversations.history", {
    inputs: { channel: "C1", oldest: "1712345678.000000" },
    items: "messages",
    member: "messages",
  }),
  pagesOf("listReplies", "/conversations.replies", {
    inputs: { channel: "C1", ts: "1712345678.123456" },
    items: "messages",
    member: "messages",
  }),
  pagesOf("listChannels", "/conversations.list", { items: "channels", member: "channels" }),
  pagesOf("listUsers", "/users.list", { items: "members", member: "members" }),
  {
    action: "listChannels",
    what: "of several types",
    inputs: { types: ["public_channel", "im"], exclude_archived: true, limit: 1 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/conversations.list",
          query: { types: "public_channel,im", exclude_archived: "true", limit: "1" },
        },
        answer: {
          body: { ok: true, channels: [{ id: "C1" }], response_metadata: { next_cursor: "more" } },
        },
      },
    ],
    output: { channels: [{ id: "C1" }], hasMore: true },
  },
  {
    action: "findUserByEmail",
    inputs: { email: "ada+lovelace@example.com" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/users.lookupByEmail",
          query: { email: "ada+lovelace@example.com" },
        },
        answer: { body: { ok: true, user: { id: "U1" } } },
      },
    ],
    output: { ok: true, user: { id: "U1" } },
  },
];

const failures: readonly ActionCase[] = [
  refusal(
    "to a channel that is not there, which Slack says with status 200",
    { body: { ok: false, error: "channel_not_found" } },
    { code: "channel_not_found" },
  ),
  refusal(
    "with arguments that Slack explains",
    {
      body: {
        ok: false,
        error: "invalid_arguments",
        response_metadata: { messages: ["[ERROR] missing required field: channel"] },
      },
    },
    { code: "invalid_arguments", message: "[ERROR] missing required field: channel" },
  ),
  refusal(
    "too often",
    {
      status: 429,
      headers: { "retry-after": "30" },
      body: { ok: false, error: "ratelimited" },
    },
    { status: 429, code: "ratelimited", retryable: true, limited: true, retryAfterMs: 30_000 },
  ),
  refusal(
    "with a token that is none",
    { body: { ok: false, error: "invalid_auth" } },
    { code: "invalid_auth", badCredentials: true, expired: false },
  ),
  refusal(
    "with a token that was taken back",
    { body: { ok: false, error: "token_revoked" } },
    { code: "token_revoked", badCredentials: true, expired: true },
  ),
  refusal(
    "while Slack is down",
    { body: { ok: false, error: "service_unavailable" } },
    { code: "service_unavailable", retryable: true, badCredentials: false },
  ),
];

export const slackCases: ProviderCases = {
  provider: "slack",
  fields: { teamId: "T12345678" },
  credentials: { accessToken: "xoxb-canary" },
  signature: { headers: { authorization: "Bearer xoxb-canary" } },
  cases: [...writes, ...reads, ...failures],
};
