import type { Identity } from "@workflow/rpc";

/** Nobody's: the calls that it goes along with name the companies that they are about. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

/** The service in its own name. */
export function webhooksWith(scope: string): Identity {
  return {
    companyId: NO_COMPANY,
    principal: { type: "service", id: "webhooks" },
    scopes: [scope],
  };
}
