import { toldSchema } from "../description/description.ts";
import type { Told } from "../description/description.ts";

/** The text in examples in place of an address of this machine. */
export type StandIn = readonly [real: string, shown: string];

/**
 * The day on which the shown story begins: the same day of the week, so that schedules keep theirs.
 */
const SHOWN_DAY_MS = Date.UTC(2026, 0, 26);
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

const PREFIXED_ID = /\b([a-z]+)_([0-9a-hjkmnp-tv-z]{26})\b/g;
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * The story as readers see it: ids are numbered, the addresses of doubles and of the system have names, secrets are
 * made up, and the whole of it happens at one fixed time, with the distances that it really had.
 */
export function asShown(told: readonly Told[], standIns: readonly StandIn[]): Told[] {
  let text = JSON.stringify(told);
  for (const [real, shown] of standIns) {
    text = text.replaceAll(encodeURIComponent(real), encodeURIComponent(shown));
    text = text.replaceAll(real, shown);
  }
  text = numbered(text, PREFIXED_ID, (count, [, prefix = ""]) => {
    return `${prefix}_01kg9d1kzcexw9f1c3f4r7m${inBase32(count)}`;
  });
  text = numbered(text, UUID, (count) => {
    return `0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a${count.toString(16).padStart(4, "0")}`;
  });
  text = text
    .replaceAll(/\bwfk_[\w-]{32}(?![\w-])/g, `wfk_${"Ab3".repeat(11).slice(0, 32)}`)
    .replaceAll(/(?<="keyPrefix":")wfk_[\w-]+/g, "wfk_Ab3Ab3Ab")
    .replaceAll(
      /\bwhsec_[\w+/]{43}=/g,
      `whsec_${"c2VjcmV0IG9mIHRoZSBiYWNrIG9mZmljZSEh".padEnd(43, "A")}=`,
    )
    .replaceAll(/(?<=v1=)[0-9a-f]{64}/g, SIGNATURE)
    .replaceAll(/(?<=v1,)[\w+/]{43}=/g, "K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=")
    .replaceAll(/(?<=[?&](?:state|code_challenge|code|nonce)=)[\w.~%-]+/g, "x4RlS9")
    .replaceAll(/(?<="(?:state|code)":")[\w.~%-]{20,}/g, "x4RlS9")
    .replaceAll(/(?<="cursor":")[^"]+/g, "eyJ2IjoxfQ")
    .replaceAll(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d GMT/g, HTTP_DATE);
  return toldSchema.parse(JSON.parse(atShownTime(text)));
}

const SIGNATURE = "5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd";
const HTTP_DATE = "Mon, 26 Jan 2026 08:00:00 GMT";
const TIME_PLACE = "<time>";
/**
 * The replacement also reaches the text of an event or a delivery, where quotation marks are escaped.
 */
const MEASURED = /(?<=(?:durationMs|duration_ms)\\*":)\d+/g;
const UNIX_SECONDS = /(?<=[tT]imestamp":")\d{10}(?=")/g;

/** The common part of two tellings, without times and durations. */
export function withoutTimes(told: readonly Told[]): unknown {
  const text = JSON.stringify(told)
    .replaceAll(TIME, TIME_PLACE)
    .replaceAll(UNIX_SECONDS, TIME_PLACE)
    .replaceAll(MEASURED, "0");
  return JSON.parse(text);
}

/** Moves all times by the same number of weeks. */
function atShownTime(text: string): string {
  const now = Date.now();
  const shift = Math.round((SHOWN_DAY_MS - now) / WEEK_MS) * WEEK_MS;
  return text
    .replaceAll(TIME, (found) => new Date(Date.parse(found) + shift).toISOString())
    .replaceAll(UNIX_SECONDS, (found) => String(Number(found) + shift / 1_000));
}

function numbered(
  text: string,
  pattern: RegExp,
  show: (count: number, match: readonly string[]) => string,
): string {
  const shown = new Map<string, string>();
  return text.replaceAll(pattern, (found: string, ...rest: unknown[]) => {
    const parts = rest.filter((each) => typeof each === "string");
    const known = shown.get(found) ?? show(shown.size + 1, [found, ...parts]);
    shown.set(found, known);
    return known;
  });
}

/** Crockford's digits, as ids have them; three places. */
function inBase32(count: number): string {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  return [count >> 10, count >> 5, count].map((part) => digits.charAt(part & 31)).join("");
}
