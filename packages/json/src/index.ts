export {
  isJsonObject,
  isTooDeep,
  JSON_DEPTH_MAX,
  jsonEquals,
  measureJson,
  ownProperty,
  setOwnProperty,
} from "./json.ts";
export type { JsonObject } from "./json.ts";
export {
  INFINITE_NUMBER,
  isLostNumber,
  listInfiniteNumbers,
  listLostNumbers,
  LOST_NUMBER,
} from "./json-numbers.ts";
export { isStorableText, NESTING_MAX, parseJsonText } from "./json-text.ts";
export type { JsonTextResult } from "./json-text.ts";
export { cutJsonArray, isJsonProblem, scanJsonObject } from "./scan-json.ts";
export type { JsonMembers, JsonProblem } from "./scan-json.ts";
