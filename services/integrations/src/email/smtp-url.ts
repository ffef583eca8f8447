import { ConfigError } from "@workflow/service";

/** How the mail server is reached. */
export interface SmtpServer {
  host: string;
  /** Undefined: 465 with TLS from the start, else 587. */
  port: number | undefined;
  /** TLS from the start; otherwise STARTTLS is used where the server offers it. */
  secure: boolean;
  /** Nothing is sent before TLS is up. */
  requireTLS: boolean;
  /** STARTTLS is not used even if offered. */
  ignoreTLS: boolean;
  /** Whether the server's certificate has to be valid. */
  rejectUnauthorized: boolean;
  auth: { user: string; pass: string } | undefined;
}

const FLAGS = ["requireTLS", "ignoreTLS", "tls.rejectUnauthorized"] as const;
type Flag = (typeof FLAGS)[number];

/**
 * Reads SMTP_URL: `smtp://` or `smtps://`, credentials percent-encoded, and the parameters
 * `requireTLS`, `ignoreTLS` and `tls.rejectUnauthorized`, each true or false. The host is the
 * operator's choice, no tenant's, so private addresses are as good as any.
 *
 * A password never crosses a network in the clear unless `requireTLS=false` or `ignoreTLS=true` says
 * so: else whoever sits in between could hide that the server offers STARTTLS.
 *
 * @throws ConfigError that quotes nothing of the URL but names of parameters
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
