import { cryptoHash, cryptoHmac } from "./crypto.ts";
import { datetimeAdd, datetimeDiff, datetimeFormat } from "./datetime.ts";
import { jsonParse, jsonStringify } from "./json.ts";
import { textTemplate } from "./text.ts";

/**
 * An action without any effect: the same resolved inputs always give the same output.
 *
 * @throws StepError or TemplateError when the inputs are at fault
 */
export type PureAction = (inputs: unknown) => unknown;

/** A Map, because ids come from definitions: `constructor` is not an action. */
const PURE_ACTIONS: ReadonlyMap<string, PureAction> = new Map<string, PureAction>([
  ["crypto.hash", cryptoHash],
  ["crypto.hmac", cryptoHmac],
  ["datetime.add", datetimeAdd],
  ["datetime.diff", datetimeDiff],
  ["datetime.format", datetimeFormat],
  ["json.parse", jsonParse],
  ["json.stringify", jsonStringify],
  ["text.template", textTemplate],
]);

/** The pure action of this id; undefined when it has effects, or does not exist. */
export function findPureAction(id: string): PureAction | undefined {
  return PURE_ACTIONS.get(id);
}
