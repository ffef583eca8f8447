import { z } from "zod";
import { text } from "../../action-input.ts";
import type { ActionInput, InputTraits } from "../../action-input.ts";
import type { ActionManifest, Paging, RequestParts } from "../../provider-manifest.ts";

/** A channel, a direct message, or a person, to whom a direct message is opened. */
export function channel(traits: InputTraits = {}): ActionInput {
  return text("channel", { description: "Its id: C…, G… or D…", required: true, ...traits });
}

/** The time that Slack names a message by. */
export function timestamp(key: string, traits: InputTraits = {}): ActionInput {
  const schema = z.string().regex(/^\d+(\.\d+)?$/, "must be a time such as 1712345678.123456");
  return text(key, { schema, description: "1712345678.123456", ...traits });
}

/** Slack's writes take JSON, and warn where the character set is not said. */
export const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

/** How Slack's lists go on; it recommends pages of 200 at most. */
export function slackPages(items: string, member = items): Paging {
  return {
    items,
    member,
    size: { param: "limit", max: 200 },
    next: { kind: "cursor", from: "response_metadata.next_cursor", param: "cursor" },
  };
}

/** Slack wants several values of one argument as a text with commas. */
export function joinMember(
  place: "query" | "body",
  key: string,
): NonNullable<ActionManifest["request"]["build"]> {
  return ({ parts, inputs }): RequestParts => {
    const values = inputs[key];
    if (!Array.isArray(values)) return parts;
    const joined = { [key]: values.join(",") };
    return place === "query"
      ? { ...parts, query: { ...parts.query, ...joined } }
      : { ...parts, body: { ...Object(parts.body), ...joined } };
  };
}
