import type { Violation } from "@workflow/errors";
import { AGENT_PROVIDERS } from "../domain/agent.ts";
import type { AgentProvider } from "../domain/agent.ts";
import type { Models } from "./models/model.ts";

/** A caller's choice of the model. */
export interface ModelChoice {
  provider?: string | undefined;
  model?: string | undefined;
}

/** The provider, or the reason why the choice is not offered. */
export type ChosenProvider =
  { ok: true; provider: AgentProvider } | { ok: false; problem: Violation };

/**
 * Resolves a caller's choice of provider (D43). The first of these counts: the named provider, the
 * agent's own, the provider of the named model, the default. The model must belong to that provider.
 *
 * @param current the agent's provider so far; null for a new agent
 */
export function chooseProvider(
  { provider, model }: ModelChoice,
  current: AgentProvider | null,
  models: Pick<Models, "modelOf">,
): ChosenProvider {
  const named = AGENT_PROVIDERS.find((each) => each === provider);
  if (provider !== undefined && named === undefined) {
    return refuse("provider", `must be one of ${AGENT_PROVIDERS.join(", ")}`);
  }
  const known = named ?? current;
  if (model === undefined) return { ok: true, provider: known ?? AGENT_PROVIDERS[0] };
  if (known !== null) {
    const offered = models.modelOf(known);
    if (model === offered) return { ok: true, provider: known };
    return refuse("model", `must be ${offered}, the model of ${known}`);
  }
  const owner = AGENT_PROVIDERS.find((each) => models.modelOf(each) === model);
  if (owner !== undefined) return { ok: true, provider: owner };
  const offers = AGENT_PROVIDERS.map((each) => `${models.modelOf(each)} (${each})`);
  return refuse("model", `must be ${offers.join(" or ")}`);
}

function refuse(field: "provider" | "model", message: string): ChosenProvider {
  return { ok: false, problem: { path: [field], message } };
}
