import type { SettingName } from "@workflow/service";
import { mailDomains, oneOf, text, url, wholeNumber } from "@workflow/service/setting-types";
import type { z } from "zod";

/** The settings that this service reads alone. */
export const SETTINGS = {
  NANGO_BASE_URL: url("http", "https")
    .default("https://api.nango.dev")
    .describe("Address of the OAuth broker's API, which is Nango's; may be private."),
  NANGO_SECRET_KEY: text()
    .optional()
    .describe(
      "Secret key for the OAuth broker's API; with it accounts are connected through the broker.",
    ),
  OPENAI_API_KEY: text()
    .optional()
    .describe("Key for OpenAI; without it agents whose provider is openai can't be asked."),
  OPENAI_BASE_URL: url("http", "https")
    .default("https://api.openai.com/v1")
    .describe(
      "OpenAI, or a server compatible with it, with the version in the path; may be private and without TLS.",
    ),
  OPENAI_API: oneOf(["auto", "responses", "chat"])
    .default("auto")
    .describe(
      "How that server is asked: by the Responses API or by Chat Completions. auto: OpenAI itself by Responses, others by Chat Completions and, where they do not know it, by Responses.",
    ),
  ANTHROPIC_API_KEY: text()
    .optional()
    .describe("Key for Anthropic; without it agents whose provider is anthropic can't be asked."),
  ANTHROPIC_BASE_URL: url("http", "https")
    .default("https://api.anthropic.com")
    .describe(
      "Anthropic, or a server compatible with it, with or without the version in the path; may be private and without TLS.",
    ),
  AGENT_TIMEOUT_MS: wholeNumber(1_000, 600_000)
    .default(120_000)
    .describe(
      "How long one exchange with an AI provider may take; a question to an agent makes at most three. A direct question has four minutes in all.",
    ),
  AGENT_TOKENS_PER_DAY: wholeNumber(0, 999_999_999_999)
    .default(2_000_000)
    .describe("Tokens that a company's agents may use a UTC day; 0 is no limit."),
  AGENT_EXECUTION_RETENTION_DAYS: wholeNumber(0, 36_500)
    .default(0)
    .describe("Days for which ended executions of agents are kept, at least; 0 is for ever."),
  SMTP_URL: url("smtp", "smtps")
    .optional()
    .describe(
      "Mail server for e-mail steps without a connection: smtp:// (STARTTLS where it is offered; with a password it has to be) or smtps://, user and password percent-encoded.",
    ),
  EMAIL_FROM: text("an e-mail address")
    .optional()
    .describe("Sender of e-mail steps without a connection."),
  EMAIL_FROM_DOMAINS: mailDomains()
    .optional()
    .describe(
      "Domains besides that of EMAIL_FROM whose addresses e-mail steps without a connection may name as sender; their subdomains are not meant.",
    ),
  EMAIL_PER_DAY: wholeNumber(0, 1_000_000_000)
    .default(1_000)
    .describe("Recipients of e-mail without a connection, a company and UTC day; 0 is no limit."),
} as const satisfies Partial<Record<SettingName, z.ZodType>>;
