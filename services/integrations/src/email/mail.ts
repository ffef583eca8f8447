import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { ConfigError } from "@workflow/service";
import type { Logger } from "pino";
import { deleteOldSends } from "../store/email-sends.ts";
import { deleteOldUsage } from "../store/email-usage.ts";
import { parseMailAddress } from "@workflow/catalog";
import type { MailAddress } from "@workflow/catalog";
import { createMailTransport } from "./mail-transport.ts";
import type { MailTimeouts, MailTransport } from "./mail-transport.ts";
import { createSenderPolicy } from "./sender-policy.ts";
import type { SenderPolicy } from "./sender-policy.ts";

/** The optional settings of e-mail. */
export interface MailOptions {
  /** SMTP_URL. */
  smtpUrl?: string | undefined;
  /** EMAIL_FROM. */
  emailFrom?: string | undefined;
  /** EMAIL_FROM_DOMAINS, in lower-case ASCII. */
  fromDomains?: readonly string[] | undefined;
  /** EMAIL_PER_DAY; no limit by default. */
  perDay?: number | undefined;
  /** The time limits of a conversation with the mail server; the defaults suit most servers. */
  timeouts?: MailTimeouts | undefined;
}

/** The mail server, the sender policy and the limit of this installation. */
export interface Mail {
  /** Null when SMTP_URL is not set. */
  transport: MailTransport | null;
  senders: SenderPolicy;
  /** The limit of a company's recipients per UTC day; 0 is no limit. */
  perDay: number;
}

const PURGE_INTERVAL_MS = 3_600_000;
const PURGE_BATCH = 5_000;

/**
 * Opens e-mail; the first message connects to the server.
 *
 * @throws ConfigError when a setting is invalid
 */
export function openMail(
  database: Database,
  options: MailOptions,
  logger: Logger,
  scope: Scope,
): Mail {
  const { smtpUrl, emailFrom, fromDomains = [], perDay = 0, timeouts } = options;
  const defaultFrom = emailFrom === undefined ? null : readSender(emailFrom);
  const transport = smtpUrl === undefined ? null : createMailTransport(smtpUrl, timeouts);
  scope.defer(() => transport?.close());
  scope.loop({
    name: "purge-email-sends",
    intervalMs: PURGE_INTERVAL_MS,
    logger,
    run: async () => {
      const sends = await deleteOldSends(database, PURGE_BATCH);
      const days = await deleteOldUsage(database, PURGE_BATCH);
      return sends === PURGE_BATCH || days === PURGE_BATCH ? "again" : undefined;
    },
  });
  return {
    transport,
    senders: createSenderPolicy(defaultFrom, fromDomains),
    perDay,
  };
}

function readSender(emailFrom: string): MailAddress {
  const address = parseMailAddress(emailFrom);
  if (address !== null) return address;
  const message = "expected an e-mail address such as ada@example.com or Ada <ada@example.com>";
  throw new ConfigError([{ setting: "EMAIL_FROM", message }]);
}
