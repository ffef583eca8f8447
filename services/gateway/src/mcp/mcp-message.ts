import { isJsonObject, isJsonProblem, scanJsonObject } from "@workflow/json";
import type { JsonBody } from "../http/json-body.ts";

/** A JSON-RPC message as it was received. The protocol's own checks validate it. */
export interface McpMessage {
  readonly value: object;
  /** Empty when it is missing. */
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

/** A member of a JSON object, as text; undefined when it is missing. */
export function memberOf(text: string | undefined, name: string): string | undefined {
  if (text === undefined || !text.startsWith("{")) return undefined;
  const members = scanJsonObject(text);
  return isJsonProblem(members) ? undefined : members.get(name);
}
