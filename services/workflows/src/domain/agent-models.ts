import type { Violation } from "@workflow/errors";
import { findStepType } from "@workflow/definition";
import { isJsonObject } from "@workflow/json";

const PROVIDERS = ["openai", "anthropic"] as const;
type Provider = (typeof PROVIDERS)[number];

/** The one model of each AI provider in an installation (D43). */
export type AgentModels = Readonly<Record<Provider, string>>;

/**
 * Agent blocks of the visual editor with an unsupported pair of provider and model; paths begin
 * with `blocks`.
 */
export function unsupportedModelsOfBlocks(
  blocks: Readonly<Record<string, unknown>>,
  models: AgentModels,
): Violation[] {
  return Object.entries(blocks).flatMap(([key, block]) => {
    if (memberOf(block, "type") !== "agent") return [];
    const subBlocks = memberOf(block, "subBlocks");
    const choice = {
      provider: memberOf(memberOf(subBlocks, "provider"), "value"),
      model: memberOf(memberOf(subBlocks, "model"), "value"),
    };
    return problemsOf(choice, models).map(({ field, message }) => ({
      path: ["blocks", key, "subBlocks", field, "value"],
      message,
    }));
  });
}

/**
 * Agent steps, nested ones included, with an unsupported pair of provider and model. Takes any
 * JSON; paths begin with `steps`.
 */
export function unsupportedModelsOfSteps(
  steps: unknown,
  models: AgentModels,
  path: readonly string[] = ["steps"],
): Violation[] {
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown, index) => {
    const configPath = [...path, String(index), "config"];
    const type = memberOf(step, "type");
    const config = memberOf(step, "config");
    if (!isJsonObject(config) || typeof type !== "string") return [];
    if (type === "agent") return problemsOfConfig(config, models, configPath);
    const blocks = findStepType(type)?.blocks(config) ?? [];
    return blocks.flatMap((block) =>
      unsupportedModelsOfSteps(block.steps, models, [...configPath, ...block.path]),
    );
  });
}

/** The step's own setting, and its override for one call. */
function problemsOfConfig(config: object, models: AgentModels, path: string[]): Violation[] {
  const overrides = memberOf(config, "overrides");
  const own = { provider: memberOf(config, "provider"), model: memberOf(config, "model") };
  const overriding = {
    provider: memberOf(overrides, "provider") ?? own.provider,
    model: memberOf(overrides, "model"),
  };
  const ofOverrides = problemsOf(overriding, models).filter(
    ({ field }) => memberOf(overrides, field) !== undefined,
  );
  return [
    ...problemsOf(own, models).map(({ field, message }) => ({ path: [...path, field], message })),
    ...ofOverrides.map(({ field, message }) => ({
      path: [...path, "overrides", field],
      message,
    })),
  ];
}

/** A missing choice, or one that a template makes, is not checked. */
function problemsOf(
  { provider, model }: { provider: unknown; model: unknown },
  models: AgentModels,
) {
  const chosen = PROVIDERS.find((known) => known === provider);
  if (isMade(provider) && chosen === undefined) {
    return [{ field: "provider", message: `must be one of ${PROVIDERS.join(", ")}` }];
  }
  if (!isMade(model)) return [];
  // Where the agent's own provider applies, it is one of the two.
  const offered = chosen === undefined ? PROVIDERS.map((each) => models[each]) : [models[chosen]];
  if (typeof model === "string" && offered.includes(model)) return [];
  const whose = chosen === undefined ? "" : `, the model of ${chosen}`;
  return [{ field: "model", message: `must be ${offered.join(" or ")}${whose}` }];
}

function isMade(choice: unknown): boolean {
  if (choice === undefined || choice === null || choice === "") return false;
  return typeof choice !== "string" || !choice.includes("{{");
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
