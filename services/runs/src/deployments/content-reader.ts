import { createHash } from "node:crypto";
import { settingsSchema, triggerSchema, validateInTurns } from "@workflow/definition";
import type { CompiledTrigger } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { parseJsonText } from "@workflow/json";
import type { DeploymentContent as ContentMessage } from "@workflow/proto/runs/v1/deployments";
import { cacheMetrics } from "@workflow/service";
import { LRUCache } from "lru-cache";
import type { Registry } from "prom-client";
import type { DeploymentContent } from "../store/deployments.ts";

/** The content that a hand-over stores, and its compiled trigger. */
export interface ReadContent {
  content: DeploymentContent;
  trigger: CompiledTrigger;
}

/**
 * Reads the content of hand-overs. Content that could not be executed is refused here, before any run
 * fails by it. The workflows service has checked the syntax of expressions in processes of their own. A
 * wrong expression that passed nevertheless fails its own step.
 */
export interface ContentReader {
  /** @throws AppError BAD_REQUEST with every problem of content that cannot be executed */
  check(companyId: string, content: ContentMessage): Promise<void>;
  /** As `check`, and returns the content to store. */
  read(companyId: string, content: ContentMessage): Promise<ReadContent>;
}

/** The number of definitions that are remembered as executable; each takes some 300 bytes. */
const KNOWN_MAX = 10_000;

/**
 * Makes a reader that validates each definition once. The check of a change, its hand-over and the repair
 * loop's repetition follow each other within seconds. The first one validates, concurrent ones wait for
 * its verdict, and later ones use it. A refusal is not kept.
 */
export function createContentReader(metricsRegistry?: Registry): ContentReader {
  const known = new LRUCache<string, Promise<void>>({ max: KNOWN_MAX });
  const metrics = cacheMetrics(metricsRegistry, "definitions", () => ({ entries: known.size }));

  const check = async (companyId: string, content: ContentMessage): Promise<void> => {
    const key = keyOf(companyId, content);
    const found = known.get(key);
    if (found === undefined) metrics.miss();
    else metrics.hit();
    const verdict = found ?? validate(content);
    known.set(key, verdict);
    try {
      await verdict;
    } catch (error) {
      if (known.peek(key) === verdict) known.delete(key);
      throw error;
    }
  };

  return {
    check,
    async read(companyId, content) {
      await check(companyId, content);
      return readValid(content);
    },
  };
}

/** The BAD_REQUEST for a hand-over that is malformed or cannot be executed. */
export function deploymentRefused(violations: readonly Violation[]): AppError {
  return new AppError("BAD_REQUEST", "The deployment cannot be executed.", { violations });
}

/** The key contains the company: no answer may be quicker because another company has the same definition. */
function keyOf(companyId: string, content: ContentMessage): string {
  const { triggerJson, stepsJson, inputSchemaJson, outputSchemaJson, settingsJson } = content;
  const hash = createHash("sha256").update(companyId);
  for (const text of [triggerJson, stepsJson, inputSchemaJson, outputSchemaJson, settingsJson]) {
    // The length separates the texts, so that no two lists of texts have one key.
    hash.update(`:${text?.length ?? "none"}:`).update(text ?? "");
  }
  return hash.digest("base64");
}

async function validate(content: ContentMessage): Promise<void> {
  const violations: Violation[] = [];
  const parse = (field: string, text: string | undefined, kind: "object" | "array"): unknown => {
    if (text === undefined || text === "null") return undefined;
    const parsed = parseJsonText(text, kind);
    if (parsed.ok) return parsed.value;
    violations.push({ path: ["content", field], message: parsed.message });
    return undefined;
  };
  const settings = parse("settings_json", content.settingsJson, "object");
  const definition = {
    trigger: parse("trigger_json", content.triggerJson, "object"),
    steps: parse("steps_json", content.stepsJson, "array"),
    inputSchema: parse("input_schema_json", content.inputSchemaJson, "object"),
    outputSchema: parse("output_schema_json", content.outputSchemaJson, "object"),
    settings,
  };
  if (violations.length > 0) throw deploymentRefused(violations);
  const validated = await validateInTurns(definition);
  if (!validated.ok) throw deploymentRefused(validated.violations);
}

/** The stored form of validated content. */
function readValid(content: ContentMessage): ReadContent {
  const { name, version, triggerJson, stepsJson } = content;
  const { inputSchemaJson = null, outputSchemaJson = null, settingsJson = null } = content;
  const settings = settingsSchema.nullable().parse(JSON.parse(settingsJson ?? "null"));
  return {
    content: {
      name,
      version,
      trigger: triggerJson,
      steps: stepsJson,
      inputSchema: inputSchemaJson,
      outputSchema: outputSchemaJson,
      settings: settingsJson,
      tags: settings?.tags ?? [],
    },
    trigger: triggerSchema.parse(JSON.parse(triggerJson)),
  };
}
