import { z } from "zod";

/** A bytea column that was selected as `encode(column, 'hex')`. */
export const hexBytes = z.string().transform((digits): Buffer => Buffer.from(digits, "hex"));
