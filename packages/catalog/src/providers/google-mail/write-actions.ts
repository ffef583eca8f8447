import { z } from "zod";
import { files, list, text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";
import { mailAddress, mailAddresses, mailSubject } from "../../mail-inputs.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { composeMessage } from "./compose.ts";
import { messageId } from "./message-id.ts";

const MESSAGE_IDS = /^<[^<>\s]+>(?: <[^<>\s]+>)*$/;

/** The inputs of a message after `to`. */
const messageInputs: readonly ActionInput[] = [
  mailAddresses("cc", { in: "none" }),
  mailAddresses("bcc", { in: "none" }),
  mailAddress("from", {
    in: "none",
    description: "An alias of the account; the account by default",
  }),
  mailAddresses("replyTo", { in: "none" }),
  mailSubject({ in: "none" }),
  text("text", {
    in: "none",
    control: "long-input",
    requiredWithout: ["html"],
    description: "The plain version",
  }),
  text("html", { in: "none", title: "HTML", control: "long-input" }),
  files("attachments", { in: "none" }),
  text("threadId", { in: "none", description: "The conversation that a reply belongs to" }),
  text("inReplyTo", {
    in: "none",
    schema: z.string().max(998).regex(MESSAGE_IDS, "must be a Message-ID in angle brackets"),
    description: "Header Message-ID of the message that this one answers",
    onlyWith: "threadId",
  }),
  text("references", {
    in: "none",
    schema: z.string().max(5000).regex(MESSAGE_IDS, "must be Message-IDs in angle brackets"),
    description: "Message-IDs of the conversation; inReplyTo by default",
    onlyWith: "threadId",
  }),
];

const sendMessage: ActionManifest = {
  name: "sendMessage",
  title: "Send an e-mail",
  description: "Sends a message, or a reply within a conversation.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send",
  inputs: [mailAddresses("to", { in: "none", required: true }), ...messageInputs],
  outputs: ["id", "threadId", "labelIds"],
  request: {
    method: "POST",
    path: "/gmail/v1/users/me/messages/send",
    build: async (call) => ({
      ...call.parts,
      body: { raw: await composeMessage(call), ...threadOf(call.inputs) },
    }),
  },
  example: { to: "ada@example.com", subject: "Invoice 17", text: "It is paid. Thank you!" },
};

const createDraft: ActionManifest = {
  name: "createDraft",
  title: "Create a draft",
  description: "Writes a message for a person to look at and send.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.drafts/create",
  inputs: [mailAddresses("to", { in: "none" }), ...messageInputs],
  outputs: ["id", "message"],
  request: {
    method: "POST",
    path: "/gmail/v1/users/me/drafts",
    build: async (call) => ({
      ...call.parts,
      body: { message: { raw: await composeMessage(call), ...threadOf(call.inputs) } },
    }),
  },
  example: { to: "ada@example.com", subject: "Invoice 17", text: "Shall we pay it?" },
};

const modifyMessage: ActionManifest = {
  name: "modifyMessage",
  title: "Change a message's labels",
  description: "Adds and removes labels: marks as read, archives, stars, sorts.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/modify",
  inputs: [
    messageId,
    list("addLabelIds", {
      description: "Ids of labels, such as STARRED or Label_17; up to 100",
      requiredWithout: ["removeLabelIds"],
      min: 1,
    }),
    list("removeLabelIds", { min: 1, description: "Such as UNREAD or INBOX; up to 100" }),
  ],
  outputs: ["id", "threadId", "labelIds"],
  request: { method: "POST", path: "/gmail/v1/users/me/messages/{messageId}/modify" },
  example: { messageId: "18c2f1a7b3d4e5f6", removeLabelIds: ["UNREAD"] },
};

function threadOf({ threadId }: Readonly<Record<string, unknown>>): { threadId?: string } {
  return typeof threadId === "string" && threadId !== "" ? { threadId } : {};
}

export const writeActions = [sendMessage, createDraft, modifyMessage];
