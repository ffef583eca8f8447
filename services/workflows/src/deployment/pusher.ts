import type { Identity } from "@workflow/rpc";

/** The service acts in its own name, for the company whose workflow it is. */
export function pusherOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "service", id: "workflows" },
    scopes: ["internal:deployments"],
  };
}
