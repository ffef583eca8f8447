import { changesBetween } from "@workflow/audit";
import { isUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import type { OwnLimits } from "../domain/bucket.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { lockOwnLimits, updateOwnLimits } from "../store/rate-limits.ts";
import { readInput } from "../identity/inputs.ts";
import { recordAdminEvent } from "./record-admin-event.ts";

/** The largest value of a limit. */
export const RATE_LIMIT_MAX = 1_000_000_000;

const perMinute = z
  .number()
  .int()
  .min(0)
  .max(RATE_LIMIT_MAX, `must be a whole number up to ${RATE_LIMIT_MAX}, or null`)
  .nullable()
  .optional();

const input = z
  .object({
    companyId: z.string().toLowerCase().refine(isUuid, "must be the id of a company"),
    /**
     * Requests in any minute for each caller. 0: no limit; null: the setting's value; left out:
     * unchanged.
     */
    read: perMinute,
    write: perMinute,
    execute: perMinute,
  })
  .refine(
    ({ read, write, execute }) => [read, write, execute].some((limit) => limit !== undefined),
    { path: ["limits"], message: "must name at least one of read, write and execute" },
  );

/** The company and the limits to change. */
export type SetRateLimitsInput = z.input<typeof input>;

/**
 * Sets rate limits of a company, which take effect in all gateways within 5 s.
 *
 * @returns the company's limits afterwards
 * @throws AppError BAD_REQUEST for bad input, NOT_FOUND for an unknown company
 */
export async function setRateLimits(
  database: Database,
  request: SetRateLimitsInput,
): Promise<OwnLimits> {
  const { companyId, ...given } = readInput(input, request);
  return database.transaction(async (transaction) => {
    const before = await lockOwnLimits(transaction, companyId);
    if (before === null) throw new AppError("NOT_FOUND", "Company not found");
    const limits: OwnLimits = {
      read: given.read === undefined ? before.read : given.read,
      write: given.write === undefined ? before.write : given.write,
      execute: given.execute === undefined ? before.execute : given.execute,
    };
    await updateOwnLimits(transaction, companyId, limits);
    await notifyIdentityChange(transaction, { type: "company", id: companyId });
    await recordAdminEvent(transaction, {
      companyId,
      action: "company.rate_limits_set",
      resourceType: "company",
      resourceId: companyId,
      changes: changesBetween(before, limits),
    });
    return limits;
  });
}
