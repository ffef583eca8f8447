import { ConfigError } from "@workflow/service";

/** The address of the mail server and its TLS options. */
export interface SmtpServer {
  host: string;
  /** Undefined: 465 for TLS from the start, otherwise 587. */
  port: number | undefined;
  /** Whether TLS begins at once; otherwise STARTTLS is used when the server offers it. */
  secure: boolean;
  /** Whether nothing is sent before TLS is active. */
  requireTLS: boolean;
  /** Whether STARTTLS is ignored even when it is offered. */
  ignoreTLS: boolean;
  /** Whether the server's certificate must be valid. */
  rejectUnauthorized: boolean;
  auth: { user: string; pass: string } | undefined;
}

const FLAGS = ["requireTLS", "ignoreTLS", "tls.rejectUnauthorized"] as const;
type Flag = (typeof FLAGS)[number];

/**
 * Reads SMTP_URL: `smtp://` or `smtps://`, credentials percent-encoded, and the parameters
 * `requireTLS`, `ignoreTLS` and `tls.rejectUnauthorized`, each true or false. The operator chooses the
 * host, so private addresses are allowed. A password is never sent in plain text unless
 * `requireTLS=false` or `ignoreTLS=true` allows it: an attacker in between could hide that the server
 * offers STARTTLS.
 *
 * @throws ConfigError that quotes nothing of the URL except names of parameters
 */
export function readSmtpUrl(text: string): SmtpServer {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "smtp:" && url.protocol !== "smtps:")) {
    throw wrong("expected a URL that begins with smtp:// or smtps://");
  }
  if (url.hostname === "") throw wrong("the URL names no host");
  const flags = readFlags(url.searchParams);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const auth = readCredentials(url);
  const ignoreTLS = flags.get("ignoreTLS") ?? false;
  return {
    host,
    port: url.port === "" ? undefined : Number(url.port),
    secure: url.protocol === "smtps:",
    requireTLS: flags.get("requireTLS") ?? (auth !== undefined && !ignoreTLS && !isLoopback(host)),
    ignoreTLS,
    rejectUnauthorized: flags.get("tls.rejectUnauthorized") ?? true,
    auth,
  };
}

function readFlags(parameters: URLSearchParams): Map<Flag, boolean> {
  const flags = new Map<Flag, boolean>();
  for (const [name, value] of parameters) {
    const flag = FLAGS.find((each) => each === name);
    if (flag === undefined) throw wrong(`the parameter ${name} is not one of ${FLAGS.join(", ")}`);
    if (value !== "true" && value !== "false") throw wrong(`${name} must be true or false`);
    flags.set(flag, value === "true");
  }
  return flags;
}

function readCredentials({ username, password }: URL): SmtpServer["auth"] {
  if (username === "" && password === "") return undefined;
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    throw wrong("user and password must be percent-encoded");
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

function wrong(message: string): ConfigError {
  return new ConfigError([{ setting: "SMTP_URL", message }]);
}
