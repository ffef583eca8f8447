import type { Identity } from "@workflow/rpc";

/** The company of calls that name the companies concerned in the request itself. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

/** The service's own identity. */
export function webhooksWith(scope: string): Identity {
  return {
    companyId: NO_COMPANY,
    principal: { type: "service", id: "webhooks" },
    scopes: [scope],
  };
}
