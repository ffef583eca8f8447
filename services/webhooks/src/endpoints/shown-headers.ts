import { deliveryHeaders } from "../outbound/attempt.ts";

const HIDDEN = "••••";
/** Headers that prove the sender. A person who may read deliveries must not be able to send one. */
const SIGNATURES: ReadonlySet<string> = new Set(["x-webhook-signature", "webhook-signature"]);
const TIMES: ReadonlySet<string> = new Set(["x-webhook-timestamp", "webhook-timestamp"]);

/**
 * The headers of a delivery as its record shows them. Signatures and the values of the endpoint's own
 * headers are hidden.
 *
 * @param at the time of sending; undefined before the delivery is sent
 */
export function shownHeaders(
  own: Readonly<Record<string, string>>,
  eventId: string,
  at: Date | undefined,
): Record<string, string> {
  const target = { companyId: "", url: "", secret: "", oldSecret: null, headers: own };
  const message = { eventId, body: Buffer.alloc(0) };
  const sent = Object.entries(deliveryHeaders(target, message, at ?? new Date(0)));
  const kept = sent.filter(([name]) => at !== undefined || !TIMES.has(name.toLowerCase()));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const isHidden = Object.hasOwn(own, name) || SIGNATURES.has(name.toLowerCase());
      return [name, isHidden ? HIDDEN : value];
    }),
  );
}
