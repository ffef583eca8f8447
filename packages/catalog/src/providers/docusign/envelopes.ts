import { isJsonObject } from "@workflow/json";
import { z } from "zod";
import { choice, files, flag, list, text } from "../../action-input.ts";
import { readMailFiles } from "../../mail-inputs.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  blurb,
  carbonCopies,
  DOCS,
  envelopeId,
  guid,
  moreMembers,
  signers,
  status,
  subject,
  templateRoles,
  transactionId,
} from "./inputs.ts";

const ENVELOPES = "/accounts/{accountId}/envelopes";
const summary = ["envelopeId", "status", "statusDateTime", "uri"];

/** The parts of an envelope that are returned on demand. */
const PARTS = [
  "custom_fields",
  "documents",
  "attachments",
  "extensions",
  "folders",
  "recipients",
  "powerform",
  "tabs",
  "payment_tabs",
  "workflow",
];

type Inputs = Readonly<Record<string, unknown>>;

/** Numbers the documents. The type of a document is its name's extension. */
function documentsOf(inputs: Inputs) {
  return readMailFiles(inputs, "documents").map(({ filename, content }, index) => {
    const [, fileExtension = "pdf"] = /\.([A-Za-z0-9]{1,10})$/.exec(filename) ?? [];
    return {
      documentId: String(index + 1),
      name: filename,
      fileExtension: fileExtension.toLowerCase(),
      documentBase64: content,
    };
  });
}

/** Recipients without an id get the first free numbers. */
function recipientsOf(inputs: Inputs) {
  const people = (key: string) => {
    const value = inputs[key];
    return Array.isArray(value) ? value.filter(isJsonObject) : [];
  };
  const signing = people("signers");
  const copies = people("carbonCopies");
  const taken = new Set([...signing, ...copies].map(({ recipientId }) => recipientId));
  let number = 0;
  const numbered = (person: Record<string, unknown>) => {
    if (person["recipientId"] !== undefined) return person;
    do number += 1;
    while (taken.has(String(number)));
    return { recipientId: String(number), ...person };
  };
  return {
    signers: signing.map(numbered),
    ...(copies.length === 0 ? {} : { carbonCopies: copies.map(numbered) }),
  };
}

export const createEnvelope: ActionManifest = {
  name: "createEnvelope",
  title: "Send documents for signature",
  description:
    "Creates an envelope of documents and recipients, and sends it or keeps it as a draft.",
  docs: `${DOCS}/envelopes/create/`,
  inputs: [
    subject,
    blurb,
    files("documents", { required: true, in: "none" }),
    signers,
    carbonCopies,
    status,
    transactionId,
    moreMembers,
  ],
  outputs: summary,
  request: {
    method: "POST",
    path: ENVELOPES,
    idempotencyMember: "transactionId",
    build: ({ parts, inputs }) => ({
      ...parts,
      body: {
        ...Object(parts.body),
        documents: documentsOf(inputs),
        recipients: recipientsOf(inputs),
      },
    }),
  },
  example: {
    emailSubject: "Please sign the lease",
    documents: [{ filename: "lease.pdf", content: "JVBERi0xLjcK" }],
    signers: [{ email: "ada@example.com", name: "Ada Lovelace" }],
    status: "sent",
  },
};

export const createEnvelopeFromTemplate: ActionManifest = {
  name: "createEnvelopeFromTemplate",
  title: "Send a template for signature",
  description: "Creates an envelope from a template, with people for its roles.",
  docs: `${DOCS}/envelopes/create/`,
  inputs: [
    guid("templateId", { title: "Template", required: true }),
    templateRoles,
    { ...subject, required: false, description: "The template's subject by default" },
    blurb,
    status,
    transactionId,
    moreMembers,
  ],
  outputs: summary,
  request: { method: "POST", path: ENVELOPES, idempotencyMember: "transactionId" },
  example: {
    templateId: "44d9e888-3d86-4186-8ee9-7071bc87a0da",
    templateRoles: [{ roleName: "Signer", email: "ada@example.com", name: "Ada Lovelace" }],
    status: "sent",
  },
};

export const getEnvelope: ActionManifest = {
  name: "getEnvelope",
  title: "Get an envelope",
  description: "Reads an envelope's status and, if wanted, its recipients and documents.",
  docs: `${DOCS}/envelopes/get/`,
  inputs: [
    envelopeId,
    list("include", {
      of: z.enum(PARTS),
      join: ",",
    }),
  ],
  outputs: [
    "envelopeId",
    "status",
    "emailSubject",
    "createdDateTime",
    "sentDateTime",
    "completedDateTime",
    "statusChangedDateTime",
    "sender",
    "recipients",
  ],
  request: { method: "GET", path: `${ENVELOPES}/{envelopeId}` },
  readOnly: true,
  example: { envelopeId: "93be49ab-0000-0000-0000-f752070d71ec", include: ["recipients"] },
};

const STATUSES = [
  "created",
  "sent",
  "delivered",
  "signed",
  "completed",
  "declined",
  "voided",
  "deleted",
  "timedout",
  "processing",
];

function time(key: string, title: string, required = false) {
  const schema = z
    .string()
    .regex(/^\d{4}-\d\d-\d\d(T[\d:.]{5,15}(Z|[+-]\d\d:?\d\d)?)?$/, "must be a date or a time");
  return text(key, { title, schema, required });
}

/**
 * Pages by position. The reference does not tell the base of DocuSign's `nextUri`, and every page has the
 * total.
 */
export const listEnvelopes: ActionManifest = {
  name: "listEnvelopes",
  title: "List envelopes",
  description: "Lists envelopes that changed in a period.",
  docs: `${DOCS}/envelopes/liststatuschanges/`,
  inputs: [
    time("from_date", "From", true),
    time("to_date", "To"),
    { ...choice("from_to_status", ["changed", ...STATUSES]), title: "What happened in the period" },
    list("statuses", { title: "Statuses", of: z.enum(STATUSES), as: "status", join: "," }),
    text("search_text", { title: "Words", schema: z.string().max(48) }),
    list("include", {
      of: z.enum(PARTS),
      join: ",",
    }),
    choice(
      "order_by",
      [
        "action_required",
        "created",
        "completed",
        "envelope_name",
        "expire",
        "last_modified",
        "sent",
        "signer_list",
        "status",
        "subject",
        "user_name",
        "status_changed",
      ],
      { title: "Sort by" },
    ),
    choice("order", ["asc", "desc"]),
  ],
  outputs: ["envelopes", "hasMore"],
  request: { method: "GET", path: ENVELOPES },
  paging: {
    items: "envelopes",
    member: "envelopes",
    size: { param: "count", max: 1_000 },
    next: { kind: "offset", param: "start_position", total: "totalSetSize" },
  },
  readOnly: true,
  example: { from_date: "2026-11-01", statuses: ["completed"] },
};

export const listRecipients: ActionManifest = {
  name: "listRecipients",
  title: "List recipients",
  description: "Reads who has to sign an envelope, who has, and in which order.",
  docs: `${DOCS}/enveloperecipients/list/`,
  inputs: [
    envelopeId,
    flag("include_tabs", {
      title: "With tabs",
      description: "Fields of the documents, such as the ones that recipients filled in",
    }),
  ],
  outputs: [
    "signers",
    "carbonCopies",
    "certifiedDeliveries",
    "inPersonSigners",
    "agents",
    "editors",
    "intermediaries",
    "recipientCount",
    "currentRoutingOrder",
  ],
  request: { method: "GET", path: `${ENVELOPES}/{envelopeId}/recipients` },
  readOnly: true,
  example: { envelopeId: "93be49ab-0000-0000-0000-f752070d71ec" },
};

export const voidEnvelope: ActionManifest = {
  name: "voidEnvelope",
  title: "Void an envelope",
  description: "Takes back an envelope that is not completed, and tells the recipients the reason.",
  docs: `${DOCS}/envelopes/update/`,
  inputs: [
    envelopeId,
    text("voidedReason", { title: "Reason", schema: z.string().max(200), required: true }),
  ],
  outputs: ["envelopeId"],
  request: {
    method: "PUT",
    path: `${ENVELOPES}/{envelopeId}`,
    build: ({ parts }) => ({ ...parts, body: { status: "voided", ...Object(parts.body) } }),
  },
  example: {
    envelopeId: "93be49ab-0000-0000-0000-f752070d71ec",
    voidedReason: "The terms have changed.",
  },
};
