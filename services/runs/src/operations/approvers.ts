import { z } from "zod";

/** Who an approval step names, as it is stored with the approval. */
export const approversSchema = z.object({
  users: z.array(z.string()).default([]),
  roles: z.array(z.string()).default([]),
});

/** Who may decide an approval. */
export type Approvers = z.output<typeof approversSchema>;

/** The one who wants to decide. */
export interface Decider {
  type: "api_key" | "user" | "service" | "token";
  id: string;
  /** The roles that a user has in the company. */
  roles: readonly string[];
}

/**
 * Whether somebody with the scope may decide (D29). Keys, services and tokens act for the company;
 * people must be among those named, if any are.
 */
export function mayDecide(approvers: Approvers | null, decider: Decider): boolean {
  if (approvers === null || decider.type !== "user") return true;
  const { users, roles } = approvers;
  if (users.length === 0 && roles.length === 0) return true;
  return users.includes(decider.id) || roles.some((role) => decider.roles.includes(role));
}
