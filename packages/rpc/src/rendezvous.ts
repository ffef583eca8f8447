/*
 * Rendezvous hashing: a key belongs to the replica with the highest score for it. Every process that knows the
 * same replicas finds the same order, and a replica that comes or goes moves its own keys only.
 */

/** FNV-1a over UTF-16 units: 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

/** The score of a replica for a key, from the hashes of both; the finalizer of MurmurHash3 mixes them. */
export function scoreOf(replicaHash: number, keyHash: number): number {
  let mixed = Math.imul(replicaHash, 0x9e3779b1) ^ keyHash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
