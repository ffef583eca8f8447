import type { SettingName } from "@workflow/service";
import { SHARED_SETTINGS } from "@workflow/service";
import { SETTINGS as gateway } from "@workflow/service-gateway/settings";
import { SETTINGS as runs } from "@workflow/service-runs/settings";
import { SETTINGS as tables } from "@workflow/service-tables/settings";
import { SETTINGS as integrations } from "@workflow/service-integrations/settings";
import { SETTINGS as webhooks } from "@workflow/service-webhooks/settings";
import type { z } from "zod";

/** Every setting: the shared ones and each service's own (D53). */
export const SETTINGS = {
  ...SHARED_SETTINGS,
  ...gateway,
  ...runs,
  ...tables,
  ...integrations,
  ...webhooks,
} as const satisfies Readonly<Record<SettingName, z.ZodType>>;
