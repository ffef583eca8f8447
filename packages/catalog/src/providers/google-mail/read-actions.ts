import { z } from "zod";
import { choice, flag, list, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { messageId } from "./message-id.ts";
import { readAttachment, readMessage } from "./read-message.ts";

const listMessages: ActionManifest = {
  name: "listMessages",
  title: "Find e-mails",
  description: "Lists the ids of messages, the newest first; getMessage reads them.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/list",
  inputs: [
    text("q", {
      title: "Query",
      schema: z.string().max(2000),
      description: "As in Gmail's search box: from:ada@example.com is:unread has:attachment",
    }),
    list("labelIds", { description: "Only messages that have all of these labels" }),
    flag("includeSpamTrash", { title: "Include spam and trash" }),
  ],
  outputs: ["messages", "hasMore"],
  request: { method: "GET", path: "/gmail/v1/users/me/messages" },
  paging: {
    items: "messages",
    member: "messages",
    size: { param: "maxResults", max: 500 },
    next: { kind: "cursor", from: "nextPageToken", param: "pageToken" },
  },
  readOnly: true,
  example: { q: "has:attachment newer_than:1d", labelIds: ["INBOX"] },
};

const getMessage: ActionManifest = {
  name: "getMessage",
  title: "Get an e-mail",
  description: "Reads a message: headers, text, HTML and what is attached.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/get",
  inputs: [
    messageId,
    choice("format", [
      { id: "full", label: "Everything (the default)" },
      { id: "metadata", label: "Headers only" },
      { id: "minimal", label: "Ids and labels only" },
      { id: "raw", label: "The message itself, in base64url" },
    ]),
    list("metadataHeaders", {
      description: "Which headers to give; all by default",
      visibleWhen: { field: "format", value: "metadata" },
    }),
  ],
  outputs: [
    "id",
    "threadId",
    "labelIds",
    "snippet",
    "historyId",
    "internalDate",
    "sizeEstimate",
    "headers",
    "text",
    "html",
    "attachments",
    "raw",
  ],
  request: { method: "GET", path: "/gmail/v1/users/me/messages/{messageId}" },
  answer: { read: readMessage },
  readOnly: true,
  example: { messageId: "18c2f1a7b3d4e5f6" },
};

const getAttachment: ActionManifest = {
  name: "getAttachment",
  title: "Get an attachment",
  description: "Reads an attachment, in base64 as other steps' attachments take it.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages.attachments/get",
  inputs: [
    messageId,
    text("attachmentId", {
      title: "Attachment",
      description:
        "The id of one of getMessage's attachments; Gmail makes a new id at each reading",
      required: true,
    }),
  ],
  outputs: ["size", "content"],
  request: {
    method: "GET",
    path: "/gmail/v1/users/me/messages/{messageId}/attachments/{attachmentId}",
  },
  answer: { read: readAttachment },
  readOnly: true,
  example: {
    messageId: "18c2f1a7b3d4e5f6",
    attachmentId: "ANGjdJ8wXy2kQbR7vT0pLs",
  },
};

const listLabels: ActionManifest = {
  name: "listLabels",
  title: "List labels",
  description: "Lists the mailbox's labels, all at once: Gmail has no pages here.",
  docs: "https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.labels/list",
  inputs: [],
  outputs: ["labels"],
  request: { method: "GET", path: "/gmail/v1/users/me/labels" },
  readOnly: true,
  example: {},
};

export const readActions = [listMessages, getMessage, getAttachment, listLabels];
