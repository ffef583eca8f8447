import { asDescribed } from "./described.ts";
import { WorkflowError } from "./errors.ts";
import type { Webhooks } from "./generated/types.gen.ts";

/**
 * The payload of a delivery; `type` distinguishes its kinds. A newer service may send unlisted types.
 */
export type WebhookPayload = Webhooks["body"];

/** The reason why a delivery is refused. */
export type WebhookRefusal =
  /** The signature is missing, or a header occurs several times. */
  | "missing"
  /** The headers cannot be read. */
  | "malformed"
  /** The signature is too old, or from the future. */
  | "time"
  /** No signature matches one of the secrets. */
  | "signature"
  /** The signature is right, but the body is no JSON object. */
  | "body";

/** The prefix of a secret's base64. */
const STANDARD_PREFIX = "whsec_";

/** A delivery that must not be trusted: answer 400 and do nothing. */
export class WebhookVerificationError extends WorkflowError {
  override readonly name = "WebhookVerificationError";
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Headers in the form of `fetch` or of Node. */
export type WebhookHeaders =
  Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of a verification. */
export interface VerifyOptions {
  /** The allowed distance between the signature's time and now, in seconds; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** The present time in milliseconds since 1970; the machine's by default. */
  now?: (() => number) | undefined;
}

/**
 * Verifies a delivery and returns what it says. Looks at `X-Webhook-Signature`, or without one at the headers of
 * Standard Webhooks. Deliveries come at least once: answer 2xx to an `id` that was seen before, and do nothing.
 *
 * @param body exactly as it came; a body that was parsed and written again is another one
 * @param secrets the endpoint's secret, or several: one that fits is enough
 * @throws WebhookVerificationError for what is not to be trusted
 * @throws TypeError when there is no secret, or the body is none that came over the wire; whatever the headers are
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: VerifyOptions = {},
): Promise<WebhookPayload> {
  const keys = readSecrets(secrets);
  const bytes = readBytes(body);
  const signed = readOwn(headers) ?? readStandard(headers);
  if (signed === null) throw refusal("missing", "The delivery has no signature.");
  const { timestamp, signatures, prefix, keyOf } = signed;
  if (!/^\d{1,12}$/.test(timestamp) || signatures.length === 0) {
    throw refusal("malformed", "The delivery's signature cannot be read.");
  }
  if (!(Math.abs(now() / 1_000 - Number(timestamp)) <= toleranceSeconds)) {
    throw refusal("time", "The delivery was signed too long ago, or in the future.");
  }
  const message = concat(new TextEncoder().encode(prefix), bytes);
  let isSigned = false;
  for (const key of keys.flatMap(keyOf)) {
    const expected = await hmac(key, message);
    for (const signature of signatures) isSigned = equal(signature, expected) || isSigned;
  }
  if (!isSigned) throw refusal("signature", "The delivery is signed with none of the secrets.");
  return readPayload(bytes);
}

interface Signed {
  timestamp: string;
  signatures: readonly Uint8Array[];
  /** The text that is signed before the body. */
  prefix: string;
  /** The bytes of the key for a secret; none when the secret cannot be a key of this kind. */
  keyOf: (secret: string) => Uint8Array<ArrayBuffer>[];
}

function readSecrets(secrets: string | readonly string[]): readonly string[] {
  const all: readonly unknown[] = Array.isArray(secrets) ? secrets : [secrets];
  const isSecret = (each: unknown): each is string =>
    typeof each === "string" && each !== "" && each !== STANDARD_PREFIX;
  if (all.length === 0 || !all.every(isSecret)) {
    throw new TypeError("A secret is needed, and each must be a text that is not empty.");
  }
  return all;
}

function readBytes(body: string | Uint8Array): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  // An array of another realm is no instance of this realm's class.
  if (Object.prototype.toString.call(body) === "[object Uint8Array]") return body;
  throw new TypeError("The body must be what came: a string or a Uint8Array, and not parsed.");
}

/** `t=<time>,v1=<hex>,v1=<hex>`: the key is the whole text of the secret. */
function readOwn(headers: WebhookHeaders): Signed | null {
  const header = headerOf(headers, "x-webhook-signature");
  if (header === null) return null;
  const parts = header.split(",").map((part) => part.trim().split("="));
  const timestamps = parts.filter(([name]) => name === "t");
  const timestamp = timestamps.length === 1 ? (timestamps[0]?.[1] ?? "") : "";
  const signatures = parts.flatMap(([name, value = ""]) => (name === "v1" ? fromHex(value) : []));
  const keyOf = (secret: string): Uint8Array<ArrayBuffer>[] => [new TextEncoder().encode(secret)];
  return { timestamp, signatures, prefix: `${timestamp}.`, keyOf };
}

/**
 * Standard Webhooks (https://www.standardwebhooks.com): the key is the decoded base64 behind `whsec_`.
 */
function readStandard(headers: WebhookHeaders): Signed | null {
  const header = headerOf(headers, "webhook-signature");
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  if (header === null || id === null || timestamp === null) return null;
  const signatures = header.split(" ").flatMap((part) => {
    const [version, value = ""] = part.split(",");
    return version === "v1" ? fromBase64(value) : [];
  });
  return { timestamp, signatures, prefix: `${id}.${timestamp}.`, keyOf: standardKey };
}

/**
 * Text that is not base64 matches no signature. An error would let a made-up header break the receiver.
 */
function standardKey(secret: string): Uint8Array<ArrayBuffer>[] {
  const text = secret.startsWith(STANDARD_PREFIX) ? secret.slice(STANDARD_PREFIX.length) : secret;
  return fromBase64(text).filter((key) => key.length > 0);
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const found = Object.entries(headers).filter(
    ([key, value]) => key.toLowerCase() === name && value !== undefined,
  );
  if (found.length === 0) return null;
  const [[, value] = []] = found;
  const values = typeof value === "string" ? [value] : (value ?? []);
  const [only] = values;
  if (found.length > 1 || values.length !== 1 || only === undefined) {
    throw refusal("malformed", `The delivery has several headers ${name}.`);
  }
  return only;
}

async function hmac(
  key: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, message));
}

/** Takes the same time wherever the first difference is. */
function equal(given: Uint8Array, expected: Uint8Array): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (const [index, byte] of given.entries()) difference |= byte ^ (expected[index] ?? 0);
  return difference === 0;
}

function readPayload(bytes: Uint8Array): WebhookPayload {
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw refusal("body", "The delivery's body is not JSON.");
  }
  if (typeof payload !== "object" || payload === null || !("type" in payload)) {
    throw refusal("body", "The delivery's body is not that of an event.");
  }
  // Only the service can have signed the payload, and it keeps to its description.
  return asDescribed(payload);
}

function refusal(reason: WebhookRefusal, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message);
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Empty for text that is not hex. */
function fromHex(text: string): Uint8Array[] {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) return [];
  return [Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))];
}

/** Empty for text that is not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer>[] {
  try {
    return [Uint8Array.from(atob(text), (character) => character.charCodeAt(0))];
  } catch {
    return [];
  }
}
