import { nearestTexts, oneOf, PROVIDERS } from "@workflow/catalog";
import { ACTIONS } from "./registry.ts";

/** The most actions of a block that a message lists. A list of all actions would be too long. */
const LISTED_MAX = 12;

/** The message for a step of type action that names no action. */
export const NO_ACTION =
  'is required for a step of type action: an id such as "http.request"; the catalog (GET /blocks) lists all';

/** The message for an unknown action id: the nearest ids, and where to find all of them. */
export function describeUnknownAction(id: string): string {
  const block = id.slice(0, id.indexOf("."));
  const all = allIds();
  const siblings = all.filter((each) => each.startsWith(`${block}.`));
  if (siblings.length > 0 && siblings.length <= LISTED_MAX) {
    return `is not a known action; of ${block} it must be ${oneOf(siblings.map(quote))}`;
  }
  const near = nearestTexts(id, siblings.length > 0 ? siblings : all).map(quote);
  const where =
    siblings.length > 0 ? `(GET /blocks/${block}) lists all` : "(GET /blocks) lists all";
  if (near.length === 0) return `is not a known action; the catalog ${where}`;
  return `is not a known action; did you mean ${oneOf(near)}? The catalog ${where}`;
}

function allIds(): string[] {
  const ofProviders = PROVIDERS.flatMap((provider) =>
    provider.actions.map(({ name }) => `${provider.id}.${name}`),
  );
  return [...ACTIONS.map(({ id }) => id), ...ofProviders];
}

function quote(id: string): string {
  return JSON.stringify(id);
}
