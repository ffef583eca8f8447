/*
 * Rendezvous hashing: a key belongs to the process with the highest score for it. Every process that knows the
 * same others finds the same order, and a process that comes or goes moves its own keys only. Gateways find the
 * homes of rate limits by it (ADR 45), and callers the replica for a key (ADR 75). All of them must reckon alike,
 * older versions included: a changed formula moves every key.
 */

/** FNV-1a over UTF-16 units: an unsigned number of 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/**
 * The score of a process for a key, from `hashText` of both: an unsigned number of 32 bits. The finalizer of
 * MurmurHash3 mixes them, so that each bit of both counts.
 */
export function scoreOf(processHash: number, keyHash: number): number {
  let mixed = Math.imul(keyHash ^ processHash, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
