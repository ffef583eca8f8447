import { z } from "zod";
import { templatableText } from "../zod-messages.ts";
import type { ActionDefinition } from "./action.ts";
import { text } from "./inputs.ts";

/** Hash functions of the `crypto` actions (D17). */
export const HASH_ALGORITHMS = ["sha256", "sha384", "sha512", "sha1", "md5"] as const;
/** How a digest may be written. */
export const DIGEST_ENCODINGS = ["hex", "base64", "base64url"] as const;

const shared = {
  algorithm: templatableText(z.enum(HASH_ALGORITHMS)).meta({
    description: "The hash function; sha1 and md5 are for old counterparts only",
  }),
  text: text("What to hash, as UTF-8"),
  encoding: templatableText(z.enum(DIGEST_ENCODINGS))
    .optional()
    .meta({ description: "The encoding of the digest; hex by default" }),
};

export const cryptoHash: ActionDefinition = {
  id: "crypto.hash",
  title: "Hash",
  description: "Computes the digest of a text.",
  inputs: z.looseObject(shared),
  outputs: ["digest"],
};

export const cryptoHmac: ActionDefinition = {
  id: "crypto.hmac",
  title: "HMAC",
  description: "Signs a text with a key that both sides know.",
  inputs: z.looseObject({ ...shared, key: text("The key, best a secret") }),
  outputs: ["digest"],
};
