import type { WorkflowsSettings } from "./config.ts";
import type { WorkflowsServiceOptions } from "./service.ts";

/** The options that settings alone decide. */
export function configuredOptions(settings: WorkflowsSettings) {
  return {
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    grpcAddress: settings.WORKFLOWS_GRPC_ADDR,
    grpcReflection: settings.GRPC_REFLECTION,
    agentModels: { openai: settings.OPENAI_MODEL, anthropic: settings.ANTHROPIC_MODEL },
  } satisfies Partial<WorkflowsServiceOptions>;
}
