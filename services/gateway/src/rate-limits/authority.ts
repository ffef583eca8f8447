import type { Members, Responsible } from "./members.ts";
import type { Presence } from "./presence.ts";

/** What a gateway does about a claim. */
export type Role =
  /** It decides, and its deputy is told. */
  | { readonly kind: "decide" }
  /** It decides when its deputy says that it was told. */
  | { readonly kind: "confirm"; readonly deputy: string }
  | { readonly kind: "ask"; readonly home: string }
  /** Nobody decides before more is known. */
  | { readonly kind: "wait" };

const DECIDE: Role = { kind: "decide" };
const WAIT: Role = { kind: "wait" };

/**
 * Who decides for a window: its home and nobody else. It has the word of its deputy that this one will not take its
 * place, and knows all that was let through.
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
