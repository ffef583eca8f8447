export { startBrowser } from "./browser.ts";
export { checkOutCommit } from "./checked-out-commit.ts";
export type { CheckedOutCommit } from "./checked-out-commit.ts";
export { COMPILE_CACHE } from "./environment.ts";
export { createTestDatabase } from "./test-database.ts";
export type { TestDatabase } from "./test-database.ts";
export { startDnsDouble } from "./dns-double.ts";
export type { DnsAnswer, DnsDouble, DnsQuestion } from "./dns-double.ts";
export { logEvents } from "./log-events.ts";
export { startHttpDouble } from "./http-double.ts";
export type { DoubleHandler, DoubleResponse, HttpDouble, RecordedRequest } from "./http-double.ts";
export { findNatsServer, startLocalNats } from "./local-nats.ts";
export type { LocalNats } from "./local-nats.ts";
export { startLocalNatsCluster } from "./nats-cluster.ts";
export type { LocalNatsCluster, NatsNode } from "./nats-cluster.ts";
export { freePort } from "./free-port.ts";
export { installPackage } from "./install-package.ts";
export { startAnthropicDouble } from "./anthropic-double.ts";
export type { AnthropicDoubleOptions } from "./anthropic-double.ts";
export { MODEL_TROUBLES } from "./model-double.ts";
export type {
  AskedModel,
  ModelDouble,
  ModelReply,
  ModelSaying,
  ModelTokens,
  ModelTrouble,
  ModelTroubled,
} from "./model-double.ts";
export { startOpenAiDouble } from "./openai-double.ts";
export type { OpenAiDoubleOptions, OpenAiSampling } from "./openai-double.ts";
export { startNangoDouble } from "./nango-double.ts";
export type { NangoConnection, NangoDouble } from "./nango-double.ts";
export { startOAuthDouble } from "./oauth-double.ts";
export type { OAuthDouble, OAuthDoubleOptions } from "./oauth-double.ts";
export type { GivenToken } from "./oauth-grants.ts";
export { startSmtpDouble } from "./smtp-double.ts";
export type { SmtpDouble, SmtpDoubleOptions, TakenMessage } from "./smtp-double.ts";
export { startPostgresServer } from "./postgres-server.ts";
export type { PostgresServer } from "./postgres-server.ts";
export { createTestTokens } from "./test-tokens.ts";
export type { TestTokens } from "./test-tokens.ts";
export { TROUBLES } from "./trouble.ts";
export type { Trouble } from "./trouble.ts";
export { waitFor } from "./wait-for.ts";
export type { WaitOptions } from "./wait-for.ts";
export { startCanaries } from "./canaries.ts";
export type { Canaries } from "./canaries.ts";
export { answerInside, insideForms } from "./inside-forms.ts";
export type { InsideForm } from "./inside-forms.ts";
export { startOtlpCollector } from "./otlp-collector.ts";
export type { CollectedSpan, OtlpCollector } from "./otlp-collector.ts";
export { promtoolFromPackage } from "./promtool.ts";
