export { cacheMetrics } from "./cache-metrics.ts";
export type { CacheMetrics, CacheSize } from "./cache-metrics.ts";
export { AnswerTurns } from "./answer-turns.ts";
export { CompanyWrites } from "./company-writes.ts";
export { parseConfig, parseProviderSettings, pickSettings, serviceSettings } from "./config.ts";
export type { Environment } from "./config.ts";
export { ConfigError } from "./config-error.ts";
export type { ConfigProblem } from "./config-error.ts";
export { describeError } from "./describe-error.ts";
export type { ErrorDescription } from "./describe-error.ts";
export { followCertificates } from "./follow-certificates.ts";
export { createLogger } from "./logger.ts";
export type { LoggerOptions } from "./logger.ts";
export {
  counterIn,
  createMetricsRegistry,
  gaugeIn,
  histogramIn,
  rpcRequestMetrics,
  startMetricsServer,
} from "./metrics.ts";
export type { MetricsServer } from "./metrics.ts";
export { watchPool } from "./pool-metrics.ts";
export { startOperations } from "./operations.ts";
export type { Operations, OperationsOptions, Peer } from "./operations.ts";
export { PROVIDER_IDS, providerSettingName } from "./provider-settings.ts";
export type { ProviderSettings } from "./provider-settings.ts";
export { inTurn, NoReplicaError, parseReplicaAddresses, ReplicaAgent } from "./replica-agent.ts";
export type { ReplicaAddress, ReplicaAgentOptions } from "./replica-agent.ts";
export { runMain } from "./run-main.ts";
export type { Running, RunMainOptions } from "./run-main.ts";
export { fileSettingName, readSettingFiles } from "./setting-files.ts";
export type { SettingName } from "./setting-names.ts";
export { SHARED_SETTINGS } from "./settings.ts";
export { settingsTable } from "./settings-table.ts";
export {
  explainSettingsWithoutEffect,
  withoutEffect,
  withoutEffectOfProviders,
} from "./settings-without-effect.ts";
export { openServiceTraces, traceSettings } from "./tracing.ts";
export type { TraceSettings } from "./tracing.ts";
