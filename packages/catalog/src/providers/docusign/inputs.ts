import { z } from "zod";
import { choice, json, list, text } from "../../action-input.ts";
import type { InputTraits } from "../../action-input.ts";

export const DOCS = "https://developers.docusign.com/docs/esign-rest-api/reference/envelopes";

const GUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** A GUID. */
export function guid(key: string, traits: InputTraits = {}) {
  return text(key, { ...traits, schema: z.string().regex(GUID, "must be a GUID") });
}

export const envelopeId = guid("envelopeId", { title: "Envelope", required: true });

/** The inputs of every envelope. */
export const subject = text("emailSubject", {
  title: "Subject",
  schema: z.string().max(100),
  required: true,
});
export const blurb = text("emailBlurb", {
  title: "Message",
  control: "long-input",
  schema: z.string().max(10_000),
});
export const status = choice(
  "status",
  [
    { id: "sent", label: "Send at once" },
    { id: "created", label: "Keep as a draft" },
  ],
  { title: "What to do", required: true },
);

/** The id by which DocuSign recognizes a repeated envelope for seven days. */
export const transactionId = text("transactionId", {
  title: "Transaction id",
  description: "Your own id of this envelope; an id of the step by default",
});

export const moreMembers = json("envelopeDefinition", {
  title: "More of the definition",
  description: "In the words of the reference: notification, customFields, eventNotification",
  as: "",
});

const person = {
  email: z.string().min(1).max(100),
  name: z.string().min(1).max(100),
};

/** The signers; `tabs` place the signatures, by an anchor or by a position on a page. */
export const signers = list("signers", {
  description:
    '{email, name, routingOrder?, tabs?} each; tabs: {signHereTabs: [{anchorString: "/sign/"}]}',
  of: z.looseObject({
    ...person,
    recipientId: z.string().optional(),
    routingOrder: z.string().optional(),
    tabs: z.record(z.string(), z.unknown()).optional(),
  }),
  required: true,
  in: "none",
});

/** The recipients of a copy. */
export const carbonCopies = list("carbonCopies", {
  title: "Copies to",
  description: "{email, name, routingOrder?} each",
  of: z.looseObject({
    ...person,
    recipientId: z.string().optional(),
    routingOrder: z.string().optional(),
  }),
  in: "none",
});

/** The people for the roles of a template. */
export const templateRoles = list("templateRoles", {
  title: "Roles",
  description: "{roleName, email, name, tabs?} each",
  of: z.looseObject({
    ...person,
    roleName: z.string().min(1),
    tabs: z.record(z.string(), z.unknown()).optional(),
  }),
  required: true,
});
