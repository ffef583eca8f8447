import { createHash } from "node:crypto";
import type { InboundSecrets } from "../../options.ts";
import { listSecrets } from "../inbound-context.ts";
import { findSignatureHeader } from "../inbound-request.ts";
import type { ProviderHandler } from "../provider-handler.ts";
import { wordOf } from "../provider-input.ts";
import { readSentObjects } from "../sent-json.ts";
import type { SentObject } from "../sent-json.ts";
import { isTimestampedSignature } from "../signatures/timestamped-signature.ts";

const EVENTS_MAX = 1_000;

/**
 * Our own finance application: one event or an array of them, each `{id, type, externalAccountId, data}`.
 * `X-Finance-Signature` is made like that of our deliveries: `t=<unix seconds>,v1=<hex>` (D40).
 */
export function createFinanceHandler(settings: InboundSecrets): ProviderHandler<SentObject> {
  const secrets = listSecrets(settings.finance);
  return {
    provider: "finance",
    verify(request) {
      if (secrets.length === 0) return "unconfigured";
      const header = findSignatureHeader(request, "x-finance-signature");
      if (header === null) return "missing";
      return isTimestampedSignature(header, request, secrets) ? "verified" : "failed";
    },
    parse: ({ rawBody }) => readSentObjects(rawBody, EVENTS_MAX),
    accountsOf(event) {
      const account = accountOf(event);
      return account === null ? [] : [account];
    },
    normalise: (event) => ({
      eventType: wordOf(event, "type"),
      externalEventId: wordOf(event, "id"),
      ...repeatIdOf(event),
      dataJson: event.members.get("data") ?? event.text,
    }),
  };
}

function accountOf(event: SentObject): string | null {
  return wordOf(event, "externalAccountId") ?? wordOf(event, "accountId");
}

/** Ids of different accounts may be the same. */
function repeatIdOf(event: SentObject): { repeatId?: string } {
  const id = wordOf(event, "id");
  if (id === null) return {};
  const named = JSON.stringify([accountOf(event), id]);
  return { repeatId: createHash("sha256").update(named).digest("base64url") };
}
