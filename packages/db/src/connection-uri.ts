/** Adds what a session should be from its first moment: its name in the server's lists, role, settings. */
export function withSession(
  connectionUri: string,
  session: {
    applicationName?: string;
    role?: string | undefined;
    genericPlans?: boolean;
    durableCommits?: boolean;
  },
): string {
  const uri = new URL(connectionUri);
  if (session.applicationName !== undefined) {
    uri.searchParams.set("application_name", session.applicationName);
  }
  const options = [uri.searchParams.get("options")];
  if (session.role !== undefined) {
    assertPlainName(session.role, "role");
    options.push(`-c role=${session.role}`);
  }
  if (session.genericPlans === true) options.push("-c plan_cache_mode=force_generic_plan");
  if (session.durableCommits === true) options.push("-c synchronous_commit=on");
  const text = options.filter((option) => option !== null).join(" ");
  if (text !== "") uri.searchParams.set("options", text);
  return uri.toString();
}

/** Roles and schemas are named by us; anything that would need quoting is a mistake. */
export function assertPlainName(name: string, what: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) {
    throw new Error(`Not a plain ${what} name: ${JSON.stringify(name)}`);
  }
}
