import { z } from "zod";
import { flag, list, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { channel, joinMember, JSON_HEADERS, slackPages } from "./inputs.ts";

const CHANNEL_TYPES = ["public_channel", "private_channel", "mpim", "im"];

const listChannels: ActionManifest = {
  name: "listChannels",
  title: "List channels",
  description: "Lists channels and conversations.",
  docs: "https://docs.slack.dev/reference/methods/conversations.list",
  inputs: [
    list("types", {
      of: z.enum(CHANNEL_TYPES),
      description: "public_channel (the default), private_channel, mpim, im",
    }),
    flag("exclude_archived", { title: "Leave archived channels out" }),
  ],
  outputs: ["channels", "hasMore"],
  request: { method: "GET", path: "/conversations.list", build: joinMember("query", "types") },
  paging: slackPages("channels"),
  readOnly: true,
  example: { types: ["public_channel", "private_channel"], exclude_archived: true },
};

const createChannel: ActionManifest = {
  name: "createChannel",
  title: "Create a channel",
  description: "Creates a public or private channel.",
  docs: "https://docs.slack.dev/reference/methods/conversations.create",
  inputs: [
    text("name", {
      schema: z
        .string()
        .max(80)
        .regex(/^[^\s.\p{Lu}]+$/u, "must have no capitals, spaces or dots"),
      description: "Small letters, digits, hyphens and underscores; up to 80",
      required: true,
    }),
    flag("is_private", { title: "Private" }),
  ],
  outputs: ["ok", "channel"],
  request: { method: "POST", path: "/conversations.create", headers: JSON_HEADERS },
  example: { name: "invoices-2026", is_private: true },
};

const inviteToChannel: ActionManifest = {
  name: "inviteToChannel",
  title: "Invite to a channel",
  description: "Adds people to a channel.",
  docs: "https://docs.slack.dev/reference/methods/conversations.invite",
  inputs: [
    channel(),
    list("users", { title: "People", description: "Ids, up to 100: U…", required: true }),
  ],
  outputs: ["ok", "channel"],
  request: {
    method: "POST",
    path: "/conversations.invite",
    headers: JSON_HEADERS,
    build: joinMember("body", "users"),
  },
  example: { channel: "C024BE91L", users: ["U024BE7LH", "U024BE7LV"] },
};

const findUserByEmail: ActionManifest = {
  name: "findUserByEmail",
  title: "Find a person by e-mail",
  description: "Finds the member with this e-mail address.",
  docs: "https://docs.slack.dev/reference/methods/users.lookupByEmail",
  inputs: [text("email", { required: true })],
  outputs: ["ok", "user"],
  request: { method: "GET", path: "/users.lookupByEmail" },
  readOnly: true,
  example: { email: "ada@example.com" },
};

const listUsers: ActionManifest = {
  name: "listUsers",
  title: "List people",
  description: "Lists the workspace's members, those deactivated included.",
  docs: "https://docs.slack.dev/reference/methods/users.list",
  inputs: [flag("include_locale", { title: "With their language" })],
  outputs: ["members", "hasMore"],
  request: { method: "GET", path: "/users.list" },
  paging: slackPages("members"),
  readOnly: true,
  example: {},
};

export const channelAndPeopleActions = [
  listChannels,
  createChannel,
  inviteToChannel,
  findUserByEmail,
  listUsers,
];
