import { AppError } from "@workflow/errors";
import type { MailAddress } from "@workflow/catalog";

/** The allowed senders of e-mail without a connection (D61). */
export interface SenderPolicy {
  /** Null when EMAIL_FROM is not set. */
  defaultFrom: MailAddress | null;
  /** The allowed domains: that of EMAIL_FROM and those of EMAIL_FROM_DOMAINS. */
  domains: ReadonlySet<string>;
}

/** @param moreDomains domains in lower-case ASCII, without their subdomains */
export function createSenderPolicy(
  defaultFrom: MailAddress | null,
  moreDomains: readonly string[],
): SenderPolicy {
  const own = defaultFrom === null ? [] : [domainOf(defaultFrom)];
  return { defaultFrom, domains: new Set([...own, ...moreDomains]) };
}

/**
 * The sender of a message: the named one, or else the installation's. Any display name is allowed. The
 * domain must be one for which the operator's mail server may send; otherwise one company could write
 * as another, or as anybody.
 *
 * @throws AppError NOT_CONFIGURED without any sender; FORBIDDEN for a sender that is not allowed
 */
export function chooseSender(
  { defaultFrom, domains }: SenderPolicy,
  named: MailAddress | null,
): MailAddress {
  if (named === null) {
    if (defaultFrom !== null) return defaultFrom;
    throw notConfigured("the message has no sender and EMAIL_FROM is not set");
  }
  if (domains.has(domainOf(named))) return named;
  if (domains.size === 0) throw notConfigured("neither EMAIL_FROM nor EMAIL_FROM_DOMAINS is set");
  const message = `The sender's domain ${domainOf(named)} is none that this installation sends for.`;
  throw new AppError("FORBIDDEN", message, { details: { field: "from" } });
}

export function notConfigured(what: string): AppError {
  return new AppError("NOT_CONFIGURED", `This installation cannot send the e-mail: ${what}.`);
}

function domainOf({ wireAddress }: MailAddress): string {
  return wireAddress.slice(wireAddress.lastIndexOf("@") + 1).toLowerCase();
}
