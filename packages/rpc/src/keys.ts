import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** The only algorithm of internal tokens. */
export const TOKEN_ALGORITHM = "EdDSA";

/** A new Ed25519 key pair as PEM (PKCS #8 and SPKI). */
export interface GeneratedSigningKey {
  privateKeyPem: string;
  publicKeyPem: string;
  keyId: string;
}

/** Makes a key pair for signing internal tokens. */
export function generateSigningKey(): GeneratedSigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    privateKeyPem: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    publicKeyPem: publicKey.export({ format: "pem", type: "spki" }).toString(),
    keyId: keyIdOf(publicKey),
  };
}

/**
 * Reads an Ed25519 private key from PEM.
 *
 * @throws Error that does not show the text when it is not one
 */
export function readSigningKey(pem: string): KeyObject {
  return requireEd25519(() => createPrivateKey(pem), "private");
}

/**
 * Reads an Ed25519 public key from PEM (a private key's PEM gives its public half) and derives its
 * id. Throws like readSigningKey.
 */
export function readVerificationKey(pem: string): { keyId: string; key: KeyObject } {
  const key = requireEd25519(() => createPublicKey(pem), "public");
  return { keyId: keyIdOf(key), key };
}

/**
 * Derives the id of a key from its public half, so that a verifier needs the keys alone. The id is
 * the first 16 characters of the base64url SHA-256 of the SPKI form.
 */
export function keyIdOf(key: KeyObject): string {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const spki = publicKey.export({ format: "der", type: "spki" });
  return createHash("sha256").update(spki).digest("base64url").slice(0, 16);
}

function requireEd25519(read: () => KeyObject, kind: "private" | "public"): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    // The parser's error is dropped: it could quote the key.
    throw new Error(`The ${kind} key for internal tokens is not a valid PEM key.`);
  }
  if (key.asymmetricKeyType !== "ed25519") {
    throw new Error(`The ${kind} key for internal tokens must be an Ed25519 key.`);
  }
  return key;
}
