import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { z } from "zod";
import { hashPassword } from "../auth/password.ts";
import { insertMembership, insertUser } from "../store/companies.ts";
import { emailInput, nameInput, passwordInput, readInput, roleInput } from "./inputs.ts";

const input = z.object({
  companyId: z.uuid("must be the id of a company"),
  email: emailInput,
  password: passwordInput,
  role: roleInput,
  name: nameInput.optional(),
});

/** The person and the role in the company; the name defaults to the e-mail address. */
export type CreateUserInput = z.input<typeof input>;

/**
 * Makes a user who is a member of one company.
 *
 * @throws AppError BAD_REQUEST for bad input, CONFLICT when the e-mail address is taken, NOT_FOUND
 *   for an unknown company
 */
export async function createUser(
  database: Database,
  request: CreateUserInput,
): Promise<{ userId: string }> {
  const { companyId, email, password, role, name = email } = readInput(input, request);
  const passwordHash = await hashPassword(password);
  const userId = newUuid();
  await database.transaction(async (transaction) => {
    await insertUser(transaction, { id: userId, email, name, passwordHash });
    await insertMembership(transaction, { companyId, userId, role });
  });
  return { userId };
}
