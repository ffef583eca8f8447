import type { InboundContext } from "../inbound-context.ts";
import { listSecrets } from "../inbound-context.ts";
import type { InboundRoute } from "../inbound-request.ts";
import { textMember, toPayload } from "../read-json.ts";
import { createSignedRoute } from "./signed-route.ts";
import { messageIdOf, verifyStandardWebhooks } from "./verify-standard-webhooks.ts";

const PROVIDER = "resend";
const TEXT_CHARS_MAX = 255;
/** Each is looked up, as a whole and by its domain. */
const RECIPIENTS_MAX = 50;
const RECIPIENT_MEMBERS = ["to", "cc", "bcc", "received_for"];
const BRACKETED = /<([^<>]*)>\s*$/;

/**
 * E-mail that has come in with Resend. It belongs to the companies whose connections have a recipient's address
 * or domain as their account (D40).
 */
export function createResendRoute(context: InboundContext): InboundRoute {
  const secrets = listSecrets(context.secrets.resend);
  return createSignedRoute(context, {
    verify: (request) => verifyStandardWebhooks(request, secrets),
    read: ({ members }, request) => {
      const eventType = textMember(members, "type", TEXT_CHARS_MAX);
      const messageId = messageIdOf(request);
      const externalEventId =
        messageId !== null && messageId.length <= TEXT_CHARS_MAX ? messageId : null;
      const dataJson = members.get("data") ?? "null";
      return {
        provider: PROVIDER,
        receivers: { accountIds: listAccounts(JSON.parse(dataJson)), whenNobody: "record" },
        eventType,
        externalEventId,
        payloadJson: toPayload({ eventType, externalEventId, dataJson }),
        trigger: {},
      };
    },
  });
}

/** The recipients' addresses and domains, in lower case. */
function listAccounts(data: unknown): string[] {
  if (typeof data !== "object" || data === null) return [];
  const recipients = RECIPIENT_MEMBERS.flatMap((name): unknown => Reflect.get(data, name) ?? [])
    .filter((recipient) => typeof recipient === "string")
    .slice(0, RECIPIENTS_MAX);
  const accounts = recipients.flatMap((recipient) => {
    const address = (BRACKETED.exec(recipient)?.[1] ?? recipient).trim().toLowerCase();
    const at = address.lastIndexOf("@");
    return at === -1 ? [] : [address, address.slice(at + 1)];
  });
  return [...new Set(accounts)];
}
