import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Violation } from "@workflow/errors";
import { z } from "zod";

/** Far above what a server packs; a bound for what a broken one could make us unpack. */
const UNPACKED_BYTES_MAX = 1024 * 1024;

const violationList = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

/** Violations in compressed form, and how many of them. */
interface PackedViolations {
  packed: Buffer;
  count: number;
}

/**
 * Compresses as many violations, from the first on, as fit into a number of bytes. The last entry
 * says how many are left out, see `withOmission`. The problems of one request resemble each other:
 * fifty compressed ones usually take less room than ten as plain text.
 */
export function packViolations(
  violations: readonly Violation[],
  total: number,
  bytesMax: number,
): PackedViolations {
  const pack = (count: number): Buffer =>
    deflateRawSync(JSON.stringify(withOmission(violations.slice(0, count), total)));
  let fits = { packed: pack(0), count: 0 };
  let tooMany = violations.length + 1;
  for (let count = violations.length; fits.count + 1 < tooMany;) {
    const packed = pack(count);
    if (packed.length <= bytesMax) fits = { packed, count };
    else tooMany = count;
    count = Math.floor((fits.count + tooMany) / 2);
  }
  return fits;
}

/** The violations that were packed; undefined for bytes that hold none. */
export function unpackViolations(packed: Buffer): Violation[] | undefined {
  try {
    const json = inflateRawSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX }).toString();
    return violationList.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** The first of so many violations; a last one says how many are missing, if any are. */
export function withOmission(first: readonly Violation[], total: number): readonly Violation[] {
  const omitted = total - first.length;
  if (omitted === 0) return first;
  return [...first, { path: [], message: `${omitted} more problems are not listed.` }];
}
