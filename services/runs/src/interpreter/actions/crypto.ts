import { createHash, createHmac } from "node:crypto";
import { DIGEST_ENCODINGS, HASH_ALGORITHMS } from "@workflow/definition";
import { ActionInputs, invalidInput } from "./inputs.ts";

/** Digest of a text's UTF-8 bytes: `{algorithm, text, encoding?}` → `{digest}`. */
export function cryptoHash(resolved: unknown): { digest: string } {
  const inputs = new ActionInputs(resolved);
  const algorithm = inputs.oneOf("algorithm", HASH_ALGORITHMS);
  return { digest: createHash(algorithm).update(inputs.text("text")).digest(encodingOf(inputs)) };
}

/** Keyed digest (RFC 2104) of a text's UTF-8 bytes: `{algorithm, text, key, encoding?}` → `{digest}`. */
export function cryptoHmac(resolved: unknown): { digest: string } {
  const inputs = new ActionInputs(resolved);
  const algorithm = inputs.oneOf("algorithm", HASH_ALGORITHMS);
  const key = inputs.text("key");
  // With a key that is empty by mistake anyone could make the signatures.
  if (key === "") throw invalidInput("key", "must not be empty");
  const digest = createHmac(algorithm, key).update(inputs.text("text")).digest(encodingOf(inputs));
  return { digest };
}

function encodingOf(inputs: ActionInputs): (typeof DIGEST_ENCODINGS)[number] {
  return inputs.has("encoding") ? inputs.oneOf("encoding", DIGEST_ENCODINGS) : "hex";
}
