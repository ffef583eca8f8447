import { setPassword } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { PASSWORD_FLAG } from "./command.ts";
import { withDatabase } from "./database.ts";

export const setPasswordCommand: Command = {
  summary: "Gives a person another password and ends the person's sessions.",
  flags: { email: { placeholder: "EMAIL" }, password: PASSWORD_FLAG },
  async run(settings, values) {
    const request = { email: values.text("email"), password: values.text("password") };
    const { userId } = await withDatabase(settings, (database) => setPassword(database, request));
    return { json: { userId }, text: `User  ${userId}` };
  },
};
