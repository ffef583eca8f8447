import type { Violation } from "@workflow/errors";
import { findStepType } from "@workflow/definition";

/** The AI providers (D43), each with how the ids of its models begin. */
const MODEL_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  openai: ["gpt-", "chatgpt-", "o1", "o3", "o4"],
  anthropic: ["claude-"],
};
const PROVIDERS = Object.keys(MODEL_PREFIXES);

/**
 * Agent blocks of the visual editor whose provider and model do not go together; paths begin with
 * `blocks`.
 */
export function unsupportedModelsOfBlocks(blocks: Readonly<Record<string, unknown>>): Violation[] {
  return Object.entries(blocks).flatMap(([key, block]) => {
    if (memberOf(block, "type") !== "agent") return [];
    const subBlocks = memberOf(block, "subBlocks");
    const choice = {
      provider: memberOf(memberOf(subBlocks, "provider"), "value"),
      model: memberOf(memberOf(subBlocks, "model"), "value"),
    };
    const path = ["blocks", key, "subBlocks"];
    return problemsOf(choice).map(({ field, message }) => ({
      path: [...path, field, "value"],
      message,
    }));
  });
}

/**
 * Agent steps, nested ones included, that name a provider and a model that do not go together. Takes
 * any JSON; paths begin with `steps`.
 */
export function unsupportedModelsOfSteps(steps: unknown, path = ["steps"]): Violation[] {
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown, index) => {
    const configPath = [...path, String(index), "config"];
    const type = memberOf(step, "type");
    const config = memberOf(step, "config");
    if (!isObject(config) || typeof type !== "string") return [];
    if (type === "agent") {
      const choice = { provider: config["provider"], model: config["model"] };
      return problemsOf(choice).map(({ field, message }) => ({
        path: [...configPath, field],
        message,
      }));
    }
    const blocks = findStepType(type)?.blocks(config) ?? [];
    return blocks.flatMap((block) =>
      unsupportedModelsOfSteps(block.steps, [...configPath, ...block.path]),
    );
  });
}

/**
 * Which models an installation offers is decided by its settings; what can be told without them is
 * whether there is such a provider, and whether a model is another provider's.
 */
function problemsOf({ provider, model }: { provider: unknown; model: unknown }) {
  if (!isChosen(provider)) return [];
  if (!PROVIDERS.includes(provider)) {
    return [{ field: "provider", message: `must be one of ${PROVIDERS.join(", ")}` }];
  }
  const owner = isChosen(model) ? ownerOf(model) : undefined;
  if (owner === undefined || owner === provider) return [];
  return [{ field: "model", message: `is a model of ${owner}, not of ${provider}` }];
}

function ownerOf(model: string): string | undefined {
  return PROVIDERS.find((provider) =>
    MODEL_PREFIXES[provider]?.some((prefix) => model.startsWith(prefix)),
  );
}

/** A choice that is still empty, or left to a template, is not judged. */
function isChosen(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !value.includes("{{");
}

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
