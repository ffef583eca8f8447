import type { ActionDefinition } from "./action.ts";
import { cryptoHash, cryptoHmac } from "./crypto.ts";
import { datetimeAdd, datetimeDiff, datetimeFormat } from "./datetime.ts";
import { httpRequest } from "./http-request.ts";
import { jsonParse, jsonStringify } from "./json.ts";
import { tableDelete, tableInsert, tableQuery, tableUpdate } from "./table.ts";
import { textTemplate } from "./text-template.ts";
import { workflowRespond } from "./workflow-respond.ts";

/** All actions (D17). */
export const ACTIONS: readonly ActionDefinition[] = [
  httpRequest,
  tableQuery,
  tableInsert,
  tableUpdate,
  tableDelete,
  jsonParse,
  jsonStringify,
  textTemplate,
  datetimeFormat,
  datetimeAdd,
  datetimeDiff,
  cryptoHash,
  cryptoHmac,
  workflowRespond,
];

const byId = new Map(ACTIONS.map((action) => [action.id, action]));

/** The action of this id, or undefined. */
export function findAction(id: string): ActionDefinition | undefined {
  return byId.get(id);
}
