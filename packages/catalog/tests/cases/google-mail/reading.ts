import type { ActionCase } from "../action-case.ts";

/** Messages and labels that are read and changed. */
export const reading: readonly ActionCase[] = [
  {
    action: "listMessages",
    what: "page by page",
    inputs: { q: "is:unread", labelIds: ["INBOX", "STARRED"], limit: 600 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages",
          query: { q: "is:unread", labelIds: ["INBOX", "STARRED"], maxResults: "500" },
        },
        answer: { body: { messages: [{ id: "1", threadId: "1" }], nextPageToken: "0987" } },
      },
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages",
          query: {
            q: "is:unread",
            labelIds: ["INBOX", "STARRED"],
            maxResults: "500",
            pageToken: "0987",
          },
        },
        answer: { body: { messages: [{ id: "2", threadId: "1" }], resultSizeEstimate: 2 } },
      },
    ],
    output: {
      messages: [
        { id: "1", threadId: "1" },
        { id: "2", threadId: "1" },
      ],
      hasMore: false,
    },
  },
  {
    action: "listMessages",
    what: "without any",
    inputs: { q: "from:nobody@example.com" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages",
          query: { q: "from:nobody@example.com", maxResults: "100" },
        },
        answer: { body: { resultSizeEstimate: 0 } },
      },
    ],
    output: { messages: [], hasMore: false },
  },
  {
    action: "getMessage",
    inputs: { messageId: "m/1" },
    exchanges: [
      {
        request: { method: "GET", path: "/gmail/v1/users/me/messages/m%2F1" },
        answer: {
          body: {
            id: "m1",
            threadId: "t1",
            labelIds: ["INBOX"],
            snippet: "Grüße",
            payload: {
              mimeType: "multipart/mixed",
              filename: "",
              headers: [
                { name: "Received", value: "first" },
                { name: "Received", value: "second" },
                { name: "Subject", value: "Invoice" },
              ],
              body: { size: 0 },
              parts: [
                {
                  mimeType: "multipart/alternative",
                  filename: "",
                  body: { size: 0 },
                  parts: [
                    {
                      mimeType: "text/plain",
                      filename: "",
                      body: { size: 7, data: Buffer.from("Grüße").toString("base64url") },
                    },
                    {
                      mimeType: "text/html",
                      filename: "",
                      body: { size: 3, data: Buffer.from("<b>").toString("base64url") },
                    },
                  ],
                },
                {
                  mimeType: "text/plain",
                  filename: "notes.txt",
                  body: { attachmentId: "att1", size: 12 },
                },
              ],
            },
          },
        },
      },
    ],
    output: {
      id: "m1",
      threadId: "t1",
      labelIds: ["INBOX"],
      snippet: "Grüße",
      headers: { received: "first", subject: "Invoice" },
      text: "Grüße",
      html: "<b>",
      attachments: [
        { attachmentId: "att1", filename: "notes.txt", contentType: "text/plain", size: 12 },
      ],
    },
  },
  {
    action: "getMessage",
    what: "with some headers only",
    inputs: { messageId: "m1", format: "metadata", metadataHeaders: ["Subject", "From"] },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages/m1",
          query: { format: "metadata", metadataHeaders: ["Subject", "From"] },
        },
        answer: {
          body: { id: "m1", payload: { headers: [{ name: "Subject", value: "Invoice" }] } },
        },
      },
    ],
    output: {
      id: "m1",
      headers: { subject: "Invoice" },
      text: null,
      html: null,
      attachments: [],
    },
  },
  {
    action: "getAttachment",
    inputs: { messageId: "m1", attachmentId: "../att?1" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages/m1/attachments/..%2Fatt%3F1",
        },
        answer: { body: { size: 3, data: "_-_-" } },
      },
    ],
    output: { size: 3, content: "/+/+" },
  },
  {
    action: "modifyMessage",
    inputs: { messageId: "m1", addLabelIds: ["STARRED"], removeLabelIds: ["UNREAD"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/gmail/v1/users/me/messages/m1/modify",
          json: { addLabelIds: ["STARRED"], removeLabelIds: ["UNREAD"] },
        },
        answer: { body: { id: "m1", threadId: "t1", labelIds: ["STARRED"] } },
      },
    ],
    output: { id: "m1", threadId: "t1", labelIds: ["STARRED"] },
  },
  {
    action: "modifyMessage",
    what: "with nothing to add",
    inputs: { messageId: "m1", addLabelIds: [], removeLabelIds: ["UNREAD"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/gmail/v1/users/me/messages/m1/modify",
          json: { removeLabelIds: ["UNREAD"] },
        },
        answer: { body: { id: "m1" } },
      },
    ],
    output: { id: "m1" },
  },
  {
    action: "modifyMessage",
    what: "with nothing at all",
    inputs: { messageId: "m1", addLabelIds: [], removeLabelIds: [] },
    exchanges: [],
    refused: "addLabelIds",
  },
  {
    action: "listLabels",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/gmail/v1/users/me/labels" },
        answer: { body: { labels: [{ id: "INBOX", name: "INBOX", type: "system" }] } },
      },
    ],
    output: { labels: [{ id: "INBOX", name: "INBOX", type: "system" }] },
  },
];
