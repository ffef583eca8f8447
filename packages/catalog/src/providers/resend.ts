import { z } from "zod";
import { files, flag, json, list, text } from "../action-input.ts";
import { formatMailAddress } from "../mail-address.ts";
import {
  mailAddress,
  mailAddresses,
  mailSubject,
  readAddresses,
  readMailFiles,
} from "../mail-inputs.ts";
import { encodeSegment } from "../path-segment.ts";
import type { ActionManifest, ProviderManifest, RequestParts } from "../provider-manifest.ts";

type Inputs = Readonly<Record<string, unknown>>;

const TEMPLATE = "template_id";

const sendEmail: ActionManifest = {
  name: "sendEmail",
  title: "Send an e-mail",
  description: "Sends a message, or schedules it.",
  docs: "https://resend.com/docs/api-reference/emails/send-email",
  inputs: [
    mailAddress("from", {
      description: "An address of a verified domain",
      requiredWithout: [TEMPLATE],
    }),
    mailAddresses("to", { required: true }),
    mailAddresses("cc"),
    mailAddresses("bcc"),
    mailAddresses("reply_to"),
    mailSubject({ requiredWithout: [TEMPLATE] }),
    text("text", {
      control: "long-input",
      requiredWithout: ["html", TEMPLATE],
      notWith: [TEMPLATE],
      description: "The plain version",
    }),
    text("html", { title: "HTML", control: "long-input", notWith: [TEMPLATE] }),
    text("template_id", { title: "Template", as: "template.id", description: "A published one" }),
    json("template_variables", { as: "template.variables", onlyWith: TEMPLATE }),
    files("attachments"),
    text("scheduled_at", { description: "An ISO time: 2026-08-05T11:52:01.858Z" }),
    json("headers", {
      description: "Further headers by name",
      schema: z.record(
        z.string().regex(/^[!-9;-~]+$/, "must be the name of a header"),
        z.string().regex(/^\P{Cc}*$/u, "must not have control characters"),
      ),
    }),
    json("tags", {
      description: "[{name, value}]: letters, digits, underscores and dashes",
      schema: z.array(z.strictObject({ name: tagText(), value: tagText() })),
    }),
    text("topic_id"),
  ],
  outputs: ["id"],
  request: { method: "POST", path: "/emails", build: buildEmail },
  example: {
    from: "Acme <billing@acme.example>",
    to: "ada@example.com",
    subject: "Invoice 17",
    text: "It is paid. Thank you!",
  },
};

const sendBatchEmails: ActionManifest = {
  name: "sendBatchEmails",
  title: "Send many e-mails",
  description: "Sends up to 100 different messages in one call.",
  docs: "https://resend.com/docs/api-reference/emails/send-batch-emails",
  inputs: [
    json("emails", {
      in: "none",
      title: "E-mails",
      description: "[{from, to, subject, text or html, cc, bcc, reply_to}], no attachments",
      required: true,
      schema: z.array(batchEmail()).min(1).max(100),
    }),
  ],
  outputs: ["data"],
  request: {
    method: "POST",
    path: "/emails/batch",
    build: ({ parts, inputs }) => ({ ...parts, body: inputs["emails"] }),
  },
  example: {
    emails: [
      { from: "billing@acme.example", to: ["ada@example.com"], subject: "Hi", text: "Ada" },
      { from: "billing@acme.example", to: ["alan@example.com"], subject: "Hi", text: "Alan" },
    ],
  },
};

const getEmail: ActionManifest = {
  name: "getEmail",
  title: "Get an e-mail",
  description: "Reads a sent message and what became of it.",
  docs: "https://resend.com/docs/api-reference/emails/retrieve-email",
  inputs: [text("email_id", { title: "E-mail", required: true })],
  outputs: [
    "object",
    "id",
    "message_id",
    "to",
    "from",
    "created_at",
    "subject",
    "html",
    "text",
    "bcc",
    "cc",
    "reply_to",
    "last_event",
  ],
  request: { method: "GET", path: "/emails/{email_id}" },
  readOnly: true,
  example: { email_id: "4ef9a417-02e9-4d39-ad75-9611e0fcc33c" },
};

const createContact: ActionManifest = {
  name: "createContact",
  title: "Create a contact",
  description: "Adds someone to the contacts, and to segments.",
  docs: "https://resend.com/docs/api-reference/contacts/create-contact",
  inputs: [
    text("email", { required: true }),
    text("first_name"),
    text("last_name"),
    flag("unsubscribed", { description: "From all broadcasts" }),
    json("properties", { description: "Your own properties by their keys" }),
    list("segments", { description: "Ids of segments" }),
  ],
  outputs: ["object", "id"],
  // Keys hold for e-mails alone: https://resend.com/docs/dashboard/emails/idempotency-keys
  request: {
    method: "POST",
    path: "/contacts",
    build: withSegments,
    ignoresIdempotencyKey: true,
  },
  example: { email: "ada@example.com", first_name: "Ada" },
};

const listContacts: ActionManifest = {
  name: "listContacts",
  title: "List contacts",
  description: "Lists all contacts, or those of a segment.",
  docs: "https://resend.com/docs/api-reference/contacts/list-contacts",
  inputs: [text("segment_id", { title: "Segment", in: "none" })],
  outputs: ["contacts", "hasMore"],
  request: { method: "GET", path: "/contacts", build: atSegment },
  paging: {
    items: "data",
    member: "contacts",
    size: { param: "limit", max: 100 },
    next: { kind: "last", from: "id", param: "after", more: "has_more" },
  },
  readOnly: true,
  example: {},
};

/** Delivery of e-mail. */
export const resend: ProviderManifest = {
  id: "resend",
  name: "Resend",
  description: "Delivery of e-mail.",
  category: "email",
  docs: "https://resend.com/docs/api-reference/introduction",
  baseUrl: "https://api.resend.com",
  auth: {
    kind: "apiKey",
    // A domain or an address, by which inbound mail finds its connection (D40).
    fields: [{ key: "externalAccountId", required: false }],
    accountClaim: "externalAccountId",
  },
  sign: { headers: { authorization: "Bearer {apiKey}" } },
  idempotencyHeader: "Idempotency-Key",
  verify: {
    method: "GET",
    path: "/domains",
    // Any account may add a domain. Only its DNS records prove the ownership.
    domains: {
      items: "data",
      name: "name",
      provenWhen: { path: "status", equals: "verified" },
    },
  },
  // https://resend.com/docs/api-reference/errors
  errors: {
    code: ["name"],
    message: ["message"],
    retryableCodes: ["concurrent_idempotent_requests"],
    credentialCodes: ["invalid_api_key", "missing_api_key"],
    // A key for sending only.
    permissionCodes: ["restricted_api_key"],
  },
  rateLimit: {
    exhaustedCodes: ["daily_quota_exceeded", "monthly_quota_exceeded"],
    resetHeader: { name: "ratelimit-reset", unit: "seconds" },
  },
  actions: [sendEmail, sendBatchEmails, getEmail, createContact, listContacts],
};

/** Sends addresses as a list, and attachments with Resend's names. */
function buildEmail({ parts, inputs }: { parts: RequestParts; inputs: Inputs }): RequestParts {
  const { attachments: _, ...body } = Object(parts.body);
  for (const key of ["to", "cc", "bcc", "reply_to"]) {
    const addresses = readAddresses(inputs, key).map(formatMailAddress);
    if (addresses.length > 0) body[key] = addresses;
  }
  const attachments = readMailFiles(inputs, "attachments").map(
    ({ filename, content, contentType }) => ({ filename, content, content_type: contentType }),
  );
  return { ...parts, body: attachments.length === 0 ? body : { ...body, attachments } };
}

function tagText() {
  return z.string().regex(/^[\w-]{1,256}$/, "must be letters, digits, underscores and dashes");
}

function batchEmail() {
  const addresses = z.union(
    [z.string(), z.array(z.string()).min(1).max(50)],
    "must be up to 50 addresses",
  );
  return z
    .looseObject({ from: z.string(), to: addresses, subject: z.string() })
    .refine(
      ({ text: plain, html, template }) =>
        [plain, html, template].some((part) => part !== undefined),
      "must have text, html or template",
    );
}

/** A segment's contacts have their own path. */
function atSegment({ parts, inputs }: { parts: RequestParts; inputs: Inputs }): RequestParts {
  const id = inputs["segment_id"];
  if (typeof id !== "string" || id === "") return parts;
  return { ...parts, path: `/segments/${encodeSegment("segment_id", id)}/contacts` };
}

function withSegments({ parts, inputs }: { parts: RequestParts; inputs: Inputs }): RequestParts {
  const ids = inputs["segments"];
  if (!Array.isArray(ids)) return parts;
  return { ...parts, body: { ...Object(parts.body), segments: ids.map((id) => ({ id })) } };
}
