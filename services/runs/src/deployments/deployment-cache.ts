import { setImmediate } from "node:timers/promises";
import type { Database } from "@workflow/db";
import { compileDefinition, compileJsonSchema, nestedBlocks } from "@workflow/definition";
import type { CompiledDefinition, CompiledStep, JsonSchemaValidator } from "@workflow/definition";
import { cacheMetrics } from "@workflow/service";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { listDeployments } from "../store/deployments.ts";
import type { DeploymentRow } from "../store/deployments.ts";

/** A deployment ready to be started and executed. */
export interface Deployment {
  id: string;
  companyId: string;
  workflowId: string;
  name: string;
  version: number;
  /** Null when this release cannot execute content that an earlier one stored. */
  compiled: CompiledContent | null;
}

/** A deployment's documents, compiled. */
export interface CompiledContent {
  definition: CompiledDefinition;
  /** Null when the workflow has no such schema. */
  inputSchema: JsonSchemaValidator | null;
  outputSchema: JsonSchemaValidator | null;
  /** Ids of the steps that end the run with a response (D17). */
  respondStepIds: ReadonlySet<string>;
  /** Whether any step asks people for an approval. */
  asksApproval: boolean;
  /** Whether any step waits for another run. */
  waitsForRuns: boolean;
}

/** Compiled deployments by id. They never change, so the cache needs no invalidation. */
export interface DeploymentCache {
  /** @returns undefined when the deployment is not in memory */
  peek(id: string): Deployment | undefined;
  /** Loads the deployments that are not in memory with one query. Unknown ids are left out. */
  getMany(ids: Iterable<string>): Promise<Map<string, Deployment>>;
}

/** The cache's share of a worker's memory. Some 5,000 ordinary deployments fit. */
const COMPILED_BYTES_MAX = 256 * 1024 * 1024;
/**
 * The least that a compiled deployment takes. Each character of its source takes more (measured: 17
 * bytes).
 */
const BYTES_EACH = 16 * 1024;
const BYTES_PER_CHAR = 20;

/** Makes an empty cache. */
export function createDeploymentCache(
  database: Database,
  logger: Logger,
  metricsRegistry?: Registry,
): DeploymentCache {
  const cache = new LRUCache<string, Deployment>({
    maxSize: COMPILED_BYTES_MAX,
  });
  const metrics = cacheMetrics(metricsRegistry, "deployments", () => ({
    entries: cache.size,
    bytes: cache.calculatedSize,
  }));
  return {
    peek: (id) => cache.get(id),
    async getMany(ids) {
      const found = new Map<string, Deployment>();
      const missing: string[] = [];
      for (const id of new Set(ids)) {
        const deployment = cache.get(id);
        if (deployment === undefined) {
          metrics.miss();
          missing.push(id);
        } else {
          metrics.hit();
          found.set(id, deployment);
        }
      }
      if (missing.length === 0) return found;
      for (const row of await listDeployments(database, missing)) {
        // Compiling a large one takes some tens of milliseconds.
        await setImmediate();
        const deployment = toDeployment(row, logger);
        cache.set(row.id, deployment, { size: sizeOf(row, deployment) });
        found.set(row.id, deployment);
      }
      return found;
    },
  };
}

/** An estimate of the bytes. Validators of schemas are the largest part, where there are any. */
function sizeOf({ trigger, steps, settings }: DeploymentRow, { compiled }: Deployment): number {
  const chars = trigger.length + steps.length + (settings?.length ?? 0);
  const schemas = (compiled?.inputSchema?.bytes ?? 0) + (compiled?.outputSchema?.bytes ?? 0);
  return BYTES_EACH + BYTES_PER_CHAR * chars + schemas;
}

/** Only validated content is stored. Content that does not compile now is therefore our own fault. */
function toDeployment(row: DeploymentRow, logger: Logger): Deployment {
  let compiled: CompiledContent | null = null;
  try {
    compiled = compileContent(row);
  } catch (error) {
    logger.error({ err: error, deploymentId: row.id }, "a deployment does not compile");
  }
  return {
    id: row.id,
    companyId: row.companyId,
    workflowId: row.workflowId,
    name: row.name,
    version: row.version,
    compiled,
  };
}

function compileContent(row: DeploymentRow): CompiledContent {
  const definition = compileDefinition({
    trigger: JSON.parse(row.trigger),
    steps: JSON.parse(row.steps),
    settings: row.settings === null ? null : JSON.parse(row.settings),
  });
  const steps = [...allSteps(definition.steps)];
  return {
    definition,
    respondStepIds: new Set(
      steps.flatMap((step) =>
        step.type === "action" && step.action === "workflow.respond" ? step.id : [],
      ),
    ),
    asksApproval: steps.some(({ type }) => type === "approval"),
    waitsForRuns: steps.some((step) => step.type === "workflow" && step.wait),
    inputSchema: compileStoredSchema(row.inputSchema),
    outputSchema: compileStoredSchema(row.outputSchema),
  };
}

/** The steps, and all steps nested in them. */
function* allSteps(steps: readonly CompiledStep[]): Generator<CompiledStep> {
  for (const step of steps) {
    yield step;
    for (const block of nestedBlocks(step)) yield* allSteps(block);
  }
}

function compileStoredSchema(text: string | null): JsonSchemaValidator | null {
  if (text === null) return null;
  const schema: unknown = JSON.parse(text);
  if (schema === null) return null;
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error("a deployed schema does not compile");
  return compiled;
}
