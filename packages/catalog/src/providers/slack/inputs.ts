import { z } from "zod";
import { text } from "../../action-input.ts";
import type { ActionInput, InputTraits } from "../../action-input.ts";
import type { ActionManifest, Paging, RequestParts } from "../../provider-manifest.ts";

/** A channel, a direct message, or a person, for whom Slack opens a direct message. */
export function channel(traits: InputTraits = {}): ActionInput {
  return text("channel", { description: "Its id: C…, G… or D…", required: true, ...traits });
}

/** The time by which Slack identifies a message. */
export function timestamp(key: string, traits: InputTraits = {}): ActionInput {
  const schema = z.string().regex(/^\d+(\.\d+)?$/, "must be a time such as 1712345678.123456");
  return text(key, { schema, description: "1712345678.123456", ...traits });
}

/** The content type of writes; without the character set Slack adds a warning. */
export const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

/** The paging of Slack's lists; Slack recommends pages of 200 at most. */
export function slackPages(items: string, member = items): Paging {
  return {
    items,
    member,
    size: { param: "limit", max: 200 },
    next: { kind: "cursor", from: "response_metadata.next_cursor", param: "cursor" },
  };
}

/** Slack expects several values of one argument as a text with commas. */
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
