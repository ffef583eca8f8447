import { createHash, createHmac } from "node:crypto";
import { ActionInputs, invalidInput } from "./inputs.ts";

const ALGORITHMS = ["sha256", "sha384", "sha512", "sha1", "md5"] as const;
const ENCODINGS = ["hex", "base64", "base64url"] as const;

/** Digest of a text's UTF-8 bytes: `{algorithm, text, encoding?}` → `{digest}`. */
export function cryptoHash(resolved: unknown): { digest: string } {
  const inputs = new ActionInputs(resolved);
  const algorithm = inputs.oneOf("algorithm", ALGORITHMS);
  return { digest: createHash(algorithm).update(inputs.text("text")).digest(encodingOf(inputs)) };
}

/** Keyed digest (RFC 2104) of a text's UTF-8 bytes: `{algorithm, text, key, encoding?}` → `{digest}`. */
export function cryptoHmac(resolved: unknown): { digest: string } {
  const inputs = new ActionInputs(resolved);
  const algorithm = inputs.oneOf("algorithm", ALGORITHMS);
  const key = inputs.text("key");
  // A key that is empty by mistake would give signatures that anyone can make.
  if (key === "") throw invalidInput("key", "must not be empty");
  const digest = createHmac(algorithm, key).update(inputs.text("text")).digest(encodingOf(inputs));
  return { digest };
}

function encodingOf(inputs: ActionInputs): (typeof ENCODINGS)[number] {
  return inputs.has("encoding") ? inputs.oneOf("encoding", ENCODINGS) : "hex";
}
