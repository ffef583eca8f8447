/**
 * Makes the server detect a client that disappeared silently. By itself it keeps the session, its
 * locks and its connection for two hours. Without effect on a Unix socket.
 */
const NOTICE_LOST_CLIENTS = [
  "tcp_keepalives_idle=15s",
  "tcp_keepalives_interval=5s",
  "tcp_keepalives_count=3",
  "tcp_user_timeout=30s",
].map((setting) => `-c ${setting}`);

/** Adds the properties of a session: its name in the server's lists, its role and its settings. */
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
  // They come first, so that options in the operator's address win.
  const options = [...NOTICE_LOST_CLIENTS, uri.searchParams.get("options")];
  if (session.role !== undefined) {
    assertPlainName(session.role, "role");
    options.push(`-c role=${session.role}`);
  }
  if (session.genericPlans === true) options.push("-c plan_cache_mode=force_generic_plan");
  if (session.durableCommits === true) options.push("-c synchronous_commit=on");
  uri.searchParams.set("options", options.filter((option) => option !== null).join(" "));
  return uri.toString();
}

/** Roles and schemas have names of ours; a name that needs quoting is a mistake. */
export function assertPlainName(name: string, what: string): void {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) {
    throw new Error(`Not a plain ${what} name: ${JSON.stringify(name)}`);
  }
}
