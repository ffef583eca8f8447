import type { Members, Responsible } from "./members.ts";
import type { Presence } from "./presence.ts";

/** What a gateway does about a claim. */
export type Role =
  /** This gateway decides and tells its deputy. */
  | { readonly kind: "decide" }
  /** This gateway decides once its deputy says that it was told. */
  | { readonly kind: "confirm"; readonly deputy: string }
  | { readonly kind: "ask"; readonly home: string }
  /** Nobody decides before more is known. */
  | { readonly kind: "wait" };

const DECIDE: Role = { kind: "decide" };
const WAIT: Role = { kind: "wait" };

/**
 * Who decides for a window: only its home. The deputy has promised not to replace the home, and the home knows all
 * that was let through.
 */
export function roleFor(
  { home, deputy }: Responsible,
  members: Members,
  presence: Pick<Presence, "agreementOf">,
): Role {
  if (home !== members.self) return { kind: "ask", home };
  if (deputy === null) return DECIDE;
  const agreement = presence.agreementOf(deputy);
  if (agreement === "lease") return DECIDE;
  return agreement === "ask" ? { kind: "confirm", deputy } : WAIT;
}
