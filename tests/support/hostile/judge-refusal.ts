import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import type { RawAnswer } from "../raw-requests.ts";
import { nameOf } from "../route-requests.ts";
import type { Attack } from "./attacks.ts";

/** The greatest length of a refusal, however many faults there were. */
const REFUSAL_CHARS_MAX = 64 * 1024;

const POSITION = "the rest of the position is missing, which is what is said";
/** Fields whose refusal may name no field or another one, and the reasons. */
export const NAMED_OTHERWISE: Readonly<Record<string, string>> = {
  "POST /tables/{id}/rows/batch body insert": "the changes of three lists are counted together",
  "PATCH /dashboards/{id}/widgets/{widgetId} body x": POSITION,
  "PATCH /dashboards/{id}/widgets/{widgetId} body y": POSITION,
  "PATCH /dashboards/{id}/widgets/{widgetId} body w": POSITION,
  "PATCH /dashboards/{id}/widgets/{widgetId} body h": POSITION,
};

/** The result of an attack. */
export interface Outcome {
  attack: Attack;
  /** Whether the request is one that the description does not allow. */
  isWrong: boolean;
  answer: RawAnswer;
  /**
   * The answer to the same request with a value of the right kind there; null where no request was needed.
   */
  control: RawAnswer | null;
}

const refusal = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
});
const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

/** The fault of the answer to an attack; null when there is none. */
export function faultOf({ attack, isWrong, answer, control }: Outcome): string | null {
  const { status, text } = answer;
  if (status >= 500 && !isOfOthers(attack.route, answer)) return "a server error";
  if (answer.headers["x-request-id"] === undefined || answer.headers["link"] === undefined) {
    return "no X-Request-Id or Link";
  }
  if (status < 400) return isWrong ? "taken, though it is described to be wrong" : null;
  if (text.length > REFUSAL_CHARS_MAX) return `a refusal of ${text.length} characters`;
  if (!refusal.safeParse(parse(text)).success) return "no refusal in the envelope";
  if (fieldOf(attack) in NAMED_OTHERWISE) return null;
  if (control !== null && saysSame(answer, control)) return null;
  return namesField(attack, answer) ? null : "the field is not named";
}

/** A provider that fails is no fault of the operations that declare to call one. */
function isOfOthers({ errors }: Route, { status, text }: RawAnswer): boolean {
  const code = refusal.safeParse(parse(text)).data?.error.code;
  return status === 502 && code === "UPSTREAM_ERROR" && errors.includes(code);
}

/** Whether a refusal names only faults that the request without anything hostile has, too. */
function saysSame(answer: RawAnswer, control: RawAnswer): boolean {
  const named = new Set(namedBy(control).map((path) => path.join("\n")));
  const said = namedBy(answer);
  if (said.length === 0 && named.size === 0) return messageOf(answer) === messageOf(control);
  return said.length > 0 && said.every((path) => named.has(path.join("\n")));
}

/** Undefined for a request that was taken. */
function messageOf({ text }: RawAnswer): string | undefined {
  return refusal.safeParse(parse(text)).data?.error.message;
}

function namedBy({ text }: RawAnswer): (readonly string[])[] {
  const { error } = refusal.safeParse(parse(text)).data ?? {};
  return (violations.safeParse(error?.details).data ?? []).map(({ path }) => path);
}

/** The name of a field, such as `POST /tables body name`. */
export function fieldOf({ route, name }: Attack): string {
  return `${nameOf(route)} ${name.split(":")[0]}`;
}
/** Whether a refusal for a field names it; true for any other answer. */
export function namesField({ place }: Attack, answer: RawAnswer): boolean {
  const { error } = refusal.safeParse(parse(answer.text)).data ?? {};
  if (place === null || !["BAD_REQUEST", "VALIDATION_ERROR"].includes(error?.code ?? ""))
    return true;
  const { details } = error ?? {};
  return (violations.safeParse(details).data ?? []).some(({ path, message }) =>
    // What members have to be together is about the body, and the words say which ones.
    path.length === 0 ? message.split(/\W+/).includes(place[0] ?? "") : isAbout(path, place),
  );
}

/** Whether one path is in the other. */
function isAbout(path: readonly string[], place: readonly string[]): boolean {
  // A header is a member of the service's own request, whose name has no dashes.
  const asMember = (name: string | undefined) => name?.replaceAll("-", "").toLowerCase();
  if (asMember(path[0]) === asMember(place[0])) path = [place[0] ?? "", ...path.slice(1)];
  const length = Math.min(path.length, place.length);
  const sameStart = path.slice(0, length).join("\n") === place.slice(0, length).join("\n");
  // The name of a list in a query is the written one: `limit[]`.
  return length > 0 && (sameStart || path[0]?.startsWith(`${place[0]}[`) === true);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reasons that pass do not count: too many questions at a time, a provider that does not answer.
 */
export function isRefused({ answer: { status } }: Outcome): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** The way in which a field was refused. */
export function wayOf({ attack, answer }: Outcome): string {
  const { data } = refusal.safeParse(parse(answer.text));
  const [field = ""] = attack.name.split(":");
  return [field, answer.status, data?.error.message].join(" ");
}
