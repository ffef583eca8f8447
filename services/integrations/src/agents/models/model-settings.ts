import { parseConfig, serviceSettings } from "@workflow/service";
import type { z } from "zod";
import { SETTINGS } from "../../settings.ts";
import type { ModelsOptions } from "./create-models.ts";

const settings = serviceSettings(SETTINGS, "OPENAI_MODEL", "ANTHROPIC_MODEL").pick({
  OPENAI_API_KEY: true,
  OPENAI_BASE_URL: true,
  OPENAI_API: true,
  OPENAI_MODEL: true,
  ANTHROPIC_API_KEY: true,
  ANTHROPIC_BASE_URL: true,
  ANTHROPIC_MODEL: true,
});

/** The settings of the models, without those of the network. */
export type ModelSettings = Pick<ModelsOptions, "openai" | "anthropic">;

/** The models of an installation, from its settings. */
export function toModelSettings(values: z.output<typeof settings>): ModelSettings {
  return {
    openai: {
      apiKey: values.OPENAI_API_KEY,
      baseUrl: values.OPENAI_BASE_URL,
      model: values.OPENAI_MODEL,
      api: values.OPENAI_API,
    },
    anthropic: {
      apiKey: values.ANTHROPIC_API_KEY,
      baseUrl: values.ANTHROPIC_BASE_URL,
      model: values.ANTHROPIC_MODEL,
    },
  };
}

/** The models of an installation without settings: named, but without a key. */
export function defaultModelSettings(): ModelSettings {
  return toModelSettings(parseConfig(settings, {}));
}
