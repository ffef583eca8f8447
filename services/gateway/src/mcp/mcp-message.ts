import { isJsonObject, isJsonProblem, scanJsonObject } from "@workflow/json";
import type { JsonBody } from "../http/json-body.ts";

/** A JSON-RPC message as it came. What the protocol demands of it is for the protocol's own checks. */
export interface McpMessage {
  readonly value: object;
  /** Empty where there is none. */
  readonly method: string;
  /** `params.arguments` as the text that was sent: numbers keep their digits. */
  readonly argumentsJson: string | undefined;
}

export function toMcpMessage({ value, members }: JsonBody): McpMessage {
  const message = isJsonObject(value) ? value : {};
  const { method } = message;
  return {
    value: message,
    method: typeof method === "string" ? method : "",
    argumentsJson: memberOf(members.get("params"), "arguments"),
  };
}

/** A member of a JSON object, as its text; undefined where there is none. */
export function memberOf(text: string | undefined, name: string): string | undefined {
  if (text === undefined || !text.startsWith("{")) return undefined;
  const members = scanJsonObject(text);
  return isJsonProblem(members) ? undefined : members.get(name);
}
