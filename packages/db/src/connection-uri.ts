/** Adds what a session should be from its first moment: its name in the server's lists, its role. */
export function withSession(
  connectionUri: string,
  session: { applicationName?: string; role?: string | undefined },
): string {
  const uri = new URL(connectionUri);
  if (session.applicationName !== undefined) {
    uri.searchParams.set("application_name", session.applicationName);
  }
  if (session.role !== undefined) {
    assertPlainName(session.role, "role");
    const given = uri.searchParams.get("options");
    const option = `-c role=${session.role}`;
    uri.searchParams.set("options", given === null ? option : `${given} ${option}`);
  }
  return uri.toString();
}

/** Roles and schemas are named by us; anything that would need quoting is a mistake. */
export function assertPlainName(name: string, what: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) {
    throw new Error(`Not a plain ${what} name: ${JSON.stringify(name)}`);
  }
}
