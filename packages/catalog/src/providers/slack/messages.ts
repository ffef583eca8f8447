import { z } from "zod";
import { flag, json, text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { channel, JSON_HEADERS, slackPages, timestamp } from "./inputs.ts";

const content: readonly ActionInput[] = [
  text("text", {
    schema: z.string().max(40_000),
    control: "long-input",
    description: "Slack's mrkdwn; with blocks it is what notifications show",
    requiredWithout: ["blocks"],
  }),
  json("blocks", {
    description: "Block Kit: up to 50 blocks",
    schema: z
      .array(z.looseObject({ type: z.string() }))
      .min(1)
      .max(50),
  }),
];

const sendMessage: ActionManifest = {
  name: "sendMessage",
  title: "Send a message",
  description: "Posts to a channel, into a thread, or to a person.",
  docs: "https://docs.slack.dev/reference/methods/chat.postMessage",
  inputs: [
    channel({ description: "Id or name of a channel, or the id of a person" }),
    ...content,
    timestamp("thread_ts", { title: "Thread", description: "The ts of the message to answer" }),
    flag("reply_broadcast", {
      title: "Show the reply in the channel too",
      onlyWith: "thread_ts",
    }),
    flag("unfurl_links", { title: "Show previews of links" }),
    flag("unfurl_media", { title: "Show previews of media" }),
  ],
  outputs: ["ok", "channel", "ts", "message"],
  request: { method: "POST", path: "/chat.postMessage", headers: JSON_HEADERS },
  example: { channel: "C024BE91L", text: "Invoice 17 is paid." },
};

const updateMessage: ActionManifest = {
  name: "updateMessage",
  title: "Update a message",
  description: "Replaces a message that this application sent.",
  docs: "https://docs.slack.dev/reference/methods/chat.update",
  inputs: [channel(), timestamp("ts", { title: "Message", required: true }), ...content],
  outputs: ["ok", "channel", "ts", "text", "message"],
  request: { method: "POST", path: "/chat.update", headers: JSON_HEADERS },
  example: { channel: "C024BE91L", ts: "1712345678.123456", text: "Invoice 17 is refunded." },
};

const addReaction: ActionManifest = {
  name: "addReaction",
  title: "Add a reaction",
  description: "Puts an emoji on a message.",
  docs: "https://docs.slack.dev/reference/methods/reactions.add",
  inputs: [
    channel(),
    timestamp("timestamp", { title: "Message", required: true }),
    text("name", {
      title: "Emoji",
      description: "Without colons: white_check_mark",
      required: true,
    }),
  ],
  outputs: ["ok"],
  request: { method: "POST", path: "/reactions.add", headers: JSON_HEADERS },
  example: { channel: "C024BE91L", timestamp: "1712345678.123456", name: "white_check_mark" },
};

const listMessages: ActionManifest = {
  name: "listMessages",
  title: "List messages",
  description:
    "Reads a channel's messages, the newest first; Slack gives 15 a minute to unlisted applications.",
  docs: "https://docs.slack.dev/reference/methods/conversations.history",
  inputs: [
    channel(),
    timestamp("oldest", { description: "Only messages after this time" }),
    timestamp("latest", { description: "Only messages before this time" }),
    flag("inclusive", { description: "Messages of exactly these times too" }),
  ],
  outputs: ["messages", "hasMore"],
  request: { method: "GET", path: "/conversations.history" },
  paging: slackPages("messages"),
  readOnly: true,
  example: { channel: "C024BE91L", oldest: "1712345678.000000" },
};

const listReplies: ActionManifest = {
  name: "listReplies",
  title: "List a thread",
  description: "Reads a thread, its first message included, the oldest first.",
  docs: "https://docs.slack.dev/reference/methods/conversations.replies",
  inputs: [channel(), timestamp("ts", { title: "Thread", required: true })],
  outputs: ["messages", "hasMore"],
  request: { method: "GET", path: "/conversations.replies" },
  paging: slackPages("messages"),
  readOnly: true,
  example: { channel: "C024BE91L", ts: "1712345678.123456" },
};

export const messageActions = [sendMessage, updateMessage, addReaction, listMessages, listReplies];
