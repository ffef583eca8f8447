import { expect } from "@jest/globals";
import { z } from "zod";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Installation } from "../installation.ts";

/** Runs every admin command, some of them in ways that fail. The token for gRPC that is good. */
export async function tourOperator(
  { admin, hide, settings }: Installation,
  { acme }: WholeSystem,
): Promise<string> {
  const password = hide("password that an operator sets");
  const email = "viewer@acme.example";
  const run = async (exitCode: number, commandLine: string, stdin?: string, more = {}) => {
    const outcome = await admin(commandLine, stdin, more);
    expect({ commandLine, ...outcome }).toMatchObject({ commandLine, exitCode });
    return outcome.stdout;
  };
  const user = `create-user --company ${acme.id} --email ${email} --role viewer --password-stdin`;
  await run(0, user, password);
  await run(1, user, password);
  await run(0, `set-password --email ${email} --password-stdin`, hide("another password"));
  await run(
    1,
    "set-password --email nobody@x.example --password-stdin",
    hide("password of nobody"),
  );
  await run(2, "set-password --email a --password-stdin", hide("password for no address"));
  await run(0, `create-api-key --company ${acme.id} --name CI --scopes runs:read`);
  await run(0, `set-run-retention --company ${acme.id} --days 30`);
  const scopes = "workflows:read,workflows:write,workflows:execute,runs:read";
  const all = `${scopes},secrets:read,secrets:write,connections:read,connections:write`;
  const mint = async (): Promise<string> => {
    const printed = await run(0, `mint-token --company ${acme.id} --scopes ${all}`);
    return z.object({ token: z.string() }).parse(JSON.parse(printed)).token;
  };
  const token = await mint();
  await run(0, `revoke-token --token ${await mint()}`);
  await run(0, "list-companies");
  await run(0, "rotate-kek");
  await run(0, "migrate");
  await run(0, "set-up-nats --replicas 1");
  const away = new URL(settings["NATS_URL"] ?? "");
  away.password = hide("wrong password of NATS_URL");
  await run(1, "set-up-nats --replicas 1", undefined, { NATS_URL: away.href });
  const url = `postgres://owner:${hide("password of DATABASE_URL")}@127.0.0.1:1/workflow`;
  await run(1, "list-companies", undefined, { DATABASE_URL: url });
  return token;
}

/** Reads the audit log as an operator does, at the end of the tour. */
export async function readAudit({ admin }: Installation, { acme }: WholeSystem): Promise<void> {
  for (const command of [`audit-log --company ${acme.id}`, "audit-log", "verify-audit"]) {
    expect(await admin(command)).toMatchObject({ exitCode: 0 });
  }
}

/** Starts that fail, each with a secret where it makes the system fail. */
export async function tourFailingStarts({ hide, failToStart }: Installation): Promise<void> {
  const bad = (name: string): string => hide(`bad ${name}`);
  await failToStart("start with bad settings", {
    SECRETS_KEK: `not base64 ${bad("SECRETS_KEK")}`,
    INTERNAL_TOKEN_PRIVATE_KEY: bad("INTERNAL_TOKEN_PRIVATE_KEY"),
    SMTP_URL: `smtp//mailer:${bad("SMTP_URL")}@host`,
    NATS_URL: `nats//user:${bad("NATS_URL")}@host`,
    DATABASE_URL: `postgres//owner:${bad("DATABASE_URL")}@host`,
    OPENAI_API_KEY: `${bad("OPENAI_API_KEY")}\nand more`,
    NANGO_SECRET_KEY: `${bad("NANGO_SECRET_KEY")}\n`,
    PORT: "none",
  });
  const password = hide("password of a database that is away");
  await failToStart("start without its database", {
    DATABASE_URL: `postgres://owner:${password}@127.0.0.1:1/workflow`,
  });
}
