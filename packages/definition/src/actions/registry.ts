import type { ActionDefinition } from "./action.ts";
import { httpRequest } from "./http-request.ts";

/** Every action there is (D17). */
export const ACTIONS: readonly ActionDefinition[] = [httpRequest];

const byId = new Map(ACTIONS.map((action) => [action.id, action]));

/** The action of this id, or undefined. */
export function findAction(id: string): ActionDefinition | undefined {
  return byId.get(id);
}
