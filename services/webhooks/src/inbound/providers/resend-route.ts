import { z } from "zod";
import type { InboundContext } from "../inbound-context.ts";
import { listSecrets } from "../inbound-context.ts";
import type { InboundRoute } from "../inbound-request.ts";
import { toWord, wordOf } from "../provider-input.ts";
import { memberOf } from "../sent-json.ts";
import { createSignedRoute } from "./signed-route.ts";
import { findMessageId, verifyStandardWebhooks } from "./verify-standard-webhooks.ts";

/** Each recipient is looked up as a whole and by its domain. */
const RECIPIENTS_MAX = 50;
const BRACKETED = /<([^<>]*)>\s*$/;

const recipients = z.array(z.unknown()).optional().catch([]);
const addressed = z.object({ to: recipients, cc: recipients, bcc: recipients }).catch({});

/**
 * Accepts e-mail that Resend has received. It belongs to the companies whose connections have a recipient's address
 * or domain as their account (D40).
 */
export function createResendRoute(context: InboundContext): InboundRoute {
  const secrets = listSecrets(context.secrets.resend);
  return createSignedRoute(context, {
    provider: "resend",
    verify: (request) => verifyStandardWebhooks(request, secrets),
    accountsOf(event) {
      const { to = [], cc = [], bcc = [] } = addressed.parse(memberOf(event, "data"));
      const accounts = [...to, ...cc, ...bcc].slice(0, RECIPIENTS_MAX).flatMap(toAccounts);
      return [...new Set(accounts)];
    },
    normalise: (event, request) => ({
      eventType: wordOf(event, "type"),
      externalEventId: toWord(findMessageId(request)),
      dataJson: event.members.get("data") ?? "null",
    }),
  });
}

/** A recipient's address and domain, in lower case. */
function toAccounts(recipient: unknown): string[] {
  if (typeof recipient !== "string") return [];
  const address = (BRACKETED.exec(recipient)?.[1] ?? recipient).trim().toLowerCase();
  const at = address.lastIndexOf("@");
  return at === -1 ? [] : [address, address.slice(at + 1)];
}
