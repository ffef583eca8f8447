import type { Identity } from "@workflow/rpc";

/** The identity of the service itself, for the company that owns the workflow. */
export function pusherOf(companyId: string): Identity {
  return {
    companyId,
    principal: { type: "service", id: "workflows" },
    scopes: ["internal:deployments"],
  };
}
