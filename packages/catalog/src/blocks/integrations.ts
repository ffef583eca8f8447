import { text } from "../action-input.ts";
import { inputsOf } from "../check-inputs.ts";
import type { ProviderManifest } from "../provider-manifest.ts";
import type { BlockSource } from "./block.ts";

const connectionId = text("connectionId", {
  title: "Connection",
  description:
    "Id of the connection to use; where none is given the run's, or else the only active one of the provider",
  control: "connection",
});

/** The block of a provider; undefined for a provider that workflows cannot call. */
export function integrationOf(provider: ProviderManifest): BlockSource | undefined {
  const { id, name, description, category, actions } = provider;
  if (actions.length === 0) return undefined;
  return {
    type: id,
    name,
    description,
    kind: "integrations",
    category,
    connectionRequired: true,
    inputs: [connectionId],
    actions: actions.map((action) => ({ ...action, inputs: inputsOf(action) })),
  };
}
