import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Violation } from "@workflow/errors";
import { z } from "zod";

/** A bound for unpacking, far above the size that a server packs. A broken server could send more. */
const UNPACKED_BYTES_MAX = 1024 * 1024;

const violationList = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

/** Violations in compressed form, and their number. */
interface PackedViolations {
  packed: Buffer;
  count: number;
}

/**
 * Compresses the first violations, up to a number of bytes. The last entry tells the number of omitted ones,
 * see `withOmission`. The violations of one request resemble each other: fifty packed ones usually take less
 * room than ten as plain text.
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

/** Unpacks violations; undefined for bytes that hold none. */
export function unpackViolations(packed: Buffer): Violation[] | undefined {
  try {
    const json = inflateRawSync(packed, { maxOutputLength: UNPACKED_BYTES_MAX }).toString();
    return violationList.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** The first violations up to a number. A last one tells how many are missing, if any. */
export function withOmission(first: readonly Violation[], total: number): readonly Violation[] {
  const omitted = total - first.length;
  if (omitted === 0) return first;
  return [...first, { path: [], message: `${omitted} more problems are not listed.` }];
}
