import { z } from "zod";
import { files, json, list, number, text } from "../action-input.ts";
import { INPUT_ENTRIES_MAX } from "../input-size.ts";
import { parseMailAddress } from "../mail-address.ts";
import type { MailAddress } from "../mail-address.ts";
import {
  mailAddress,
  mailAddresses,
  mailSubject,
  readAddresses,
  readMailFiles,
} from "../mail-inputs.ts";
import type { ActionManifest, ProviderManifest } from "../provider-manifest.ts";

type Inputs = Readonly<Record<string, unknown>>;

const RECIPIENTS_MAX = 1_000;
const TEMPLATE = "template_id";

const sendMail: ActionManifest = {
  name: "sendMail",
  title: "Send an e-mail",
  description: "Sends a message of its own content or by a dynamic template.",
  docs: "https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send",
  inputs: [
    mailAddress("from", { in: "none", description: "A verified sender", required: true }),
    mailAddresses("to", { in: "none", max: RECIPIENTS_MAX, required: true }),
    mailAddresses("cc", { in: "none", max: RECIPIENTS_MAX }),
    mailAddresses("bcc", { in: "none", max: RECIPIENTS_MAX }),
    mailAddress("reply_to", { in: "none" }),
    mailSubject({ requiredWithout: [TEMPLATE] }),
    text("text", {
      in: "none",
      control: "long-input",
      requiredWithout: ["html", TEMPLATE],
      notWith: [TEMPLATE],
      description: "The plain version",
    }),
    text("html", {
      in: "none",
      title: "HTML",
      control: "long-input",
      notWith: [TEMPLATE],
    }),
    text("template_id", { title: "Template", description: "d-…" }),
    json("dynamic_template_data", { in: "none", onlyWith: TEMPLATE }),
    files("attachments", { in: "none" }),
    list("categories", { of: z.string().max(255), description: "Up to 10" }),
    json("custom_args", {
      description: "Texts by name, which events about the message bring back",
      schema: z.record(z.string(), z.string()),
    }),
    number("send_at", {
      schema: z.int().min(0),
      description: "Seconds since 1970, up to 72 hours ahead",
    }),
    number("unsubscribe_group_id", { schema: z.int(), as: "asm.group_id" }),
  ],
  outputs: ["messageId"],
  request: { method: "POST", path: "/v3/mail/send", build: buildMail },
  answer: { read: ({ headers }) => ({ messageId: headers["x-message-id"] ?? null }) },
  example: {
    from: "Acme <billing@acme.example>",
    to: "ada@example.com",
    subject: "Invoice 17",
    text: "It is paid. Thank you!",
  },
};

const upsertContacts: ActionManifest = {
  name: "upsertContacts",
  title: "Add or update contacts",
  description: "Queues contacts to be added, or updated by their e-mail address.",
  docs: "https://www.twilio.com/docs/sendgrid/api-reference/contacts/add-or-update-a-contact",
  inputs: [
    json("contacts", {
      // The number of contacts depends on their members; SendGrid accepts 30,000.
      description: `[{email, first_name, last_name, custom_fields, …}]; contacts and their members are at most ${INPUT_ENTRIES_MAX} together`,
      required: true,
      schema: z.array(z.looseObject({ email: z.string().max(254).optional() })).min(1),
    }),
    list("list_ids", { title: "Lists", of: z.guid() }),
  ],
  outputs: ["job_id"],
  request: { method: "PUT", path: "/v3/marketing/contacts" },
  example: { contacts: [{ email: "ada@example.com", first_name: "Ada" }] },
};

const listContactLists: ActionManifest = {
  name: "listContactLists",
  title: "List contact lists",
  description: "Lists the lists that contacts can be in.",
  docs: "https://www.twilio.com/docs/sendgrid/api-reference/lists/get-all-lists",
  inputs: [],
  outputs: ["lists", "hasMore"],
  request: { method: "GET", path: "/v3/marketing/lists" },
  paging: {
    items: "result",
    member: "lists",
    size: { param: "page_size", max: 1000 },
    next: { kind: "url", from: "_metadata.next" },
  },
  readOnly: true,
  example: {},
};

const listBounces: ActionManifest = {
  name: "listBounces",
  title: "List bounces",
  description: "Lists addresses that could not be delivered to, and why.",
  docs: "https://www.twilio.com/docs/sendgrid/api-reference/bounces-api/retrieve-all-bounces",
  inputs: [
    number("start_time", { schema: z.int().min(0), description: "Seconds since 1970" }),
    number("end_time", { schema: z.int().min(0), description: "Seconds since 1970" }),
    text("email", { description: "Only addresses that have this in them" }),
  ],
  outputs: ["bounces", "hasMore"],
  request: { method: "GET", path: "/v3/suppression/bounces" },
  paging: {
    items: "",
    member: "bounces",
    size: { param: "limit", max: 500 },
    next: { kind: "offset", param: "offset" },
  },
  readOnly: true,
  example: { start_time: 1767225600 },
};

/** Delivery of e-mail. */
export const sendgrid: ProviderManifest = {
  id: "sendgrid",
  name: "SendGrid",
  description: "Delivery of e-mail, contacts and bounces.",
  category: "email",
  docs: "https://www.twilio.com/docs/sendgrid/api-reference",
  baseUrl: "https://api.sendgrid.com",
  auth: { kind: "apiKey", fields: [] },
  sign: { headers: { authorization: "Bearer {apiKey}" } },
  // A key with any scope may list its scopes.
  verify: { method: "GET", path: "/v3/scopes" },
  // https://support.sendgrid.com/hc/en-us/articles/18322114821403-4XX-API-Errors-and-Troubleshooting-Suggestions
  errors: {
    code: ["errors.0.error_id"],
    message: ["errors.0.message"],
    // The message of used-up credits, until the plan's next reset. The status is 401, as for an invalid key,
    // and there is no code.
    messages: { "Maximum credits exceeded": "exhausted" },
  },
  rateLimit: {
    remainingHeader: "x-ratelimit-remaining",
    resetHeader: { name: "x-ratelimit-reset", unit: "epochSeconds" },
  },
  actions: [sendMail, upsertContacts, listContactLists, listBounces],
};

/** SendGrid refuses an address that stands twice among to, cc and bcc; the first place counts. */
function buildMail({
  parts,
  inputs,
}: {
  parts: Parameters<NonNullable<ActionManifest["request"]["build"]>>[0]["parts"];
  inputs: Inputs;
}) {
  const seen = new Set<string>();
  const recipients = (key: string) => {
    const fresh = readAddresses(inputs, key).filter(({ wireAddress }) => {
      const known = seen.has(wireAddress.toLowerCase());
      seen.add(wireAddress.toLowerCase());
      return !known;
    });
    return fresh.length === 0 ? {} : { [key]: fresh.map(toEmail) };
  };
  const data = inputs["template_id"] ? inputs["dynamic_template_data"] : undefined;
  const content = contentOf(inputs);
  const attachments = readMailFiles(inputs, "attachments").map(
    ({ filename, content: bytes, contentType }) => ({
      filename,
      content: bytes,
      type: contentType,
      disposition: "attachment",
    }),
  );
  return {
    ...parts,
    body: {
      personalizations: [
        {
          ...recipients("to"),
          ...recipients("cc"),
          ...recipients("bcc"),
          ...(data === undefined ? {} : { dynamic_template_data: data }),
        },
      ],
      ...addressMember(inputs, "from"),
      ...addressMember(inputs, "reply_to"),
      ...Object(parts.body),
      ...(content.length === 0 ? {} : { content }),
      ...(attachments.length === 0 ? {} : { attachments }),
    },
  };
}

/** The plain version goes first, as SendGrid requires. A template has its own versions. */
function contentOf(inputs: Inputs): { type: string; value: string }[] {
  if (inputs["template_id"]) return [];
  const versions = [
    { type: "text/plain", value: inputs["text"] },
    { type: "text/html", value: inputs["html"] },
  ];
  return versions.flatMap(({ type, value }) =>
    typeof value === "string" && value !== "" ? [{ type, value }] : [],
  );
}

function addressMember(inputs: Inputs, key: string): Record<string, unknown> {
  const value = inputs[key];
  const address = typeof value === "string" ? parseMailAddress(value) : null;
  return address === null ? {} : { [key]: toEmail(address) };
}

function toEmail({ wireAddress: email, name }: MailAddress) {
  return name === "" ? { email } : { email, name };
}
