import { createClient } from "@workflow/client";
import type { WorkflowClient } from "@workflow/client";
import { findAccess } from "./config/access.ts";
import type { Access, AccessOptions } from "./config/access.ts";
import { CliError } from "./failures.ts";
import { EXIT } from "./exit-codes.ts";
import { asChange, interruption } from "./interruption.ts";
import { Output, wantsColour } from "./output/output.ts";

declare const CLI_VERSION: string | undefined;

/** This program's version; `dev` when it runs from source. */
export const VERSION = typeof CLI_VERSION === "string" ? CLI_VERSION : "dev";

/** The options that every command takes. */
export interface GlobalOptions extends AccessOptions {
  json?: boolean | undefined;
  /** False after `--no-color`. */
  color?: boolean | undefined;
}

/** The tools of a command. */
export interface Context {
  out: Output;
  options: GlobalOptions;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /**
   * A client of the service for the signed-in person or key.
   * @throws CliError when nobody is signed in
   */
  readonly connect: () => Promise<WorkflowClient>;
}

/** The context of one command. */
export function createContext(options: GlobalOptions): Context {
  const out = new Output({
    json: options.json === true,
    colour: wantsColour(options.color !== false),
  });
  return {
    out,
    options,
    signal: interruption,
    connect: async () => clientFor(await findAccess(options), out),
  };
}

/** A client that authenticates by key or session. */
export function clientFor(access: Omit<Access, "profileName">, out: Output): WorkflowClient {
  const { url, apiKey, session } = access;
  const headers = { "user-agent": `workflowctl/${VERSION} node/${process.versions.node}` };
  const isSession = apiKey === undefined && session !== undefined;
  try {
    return createClient({
      baseUrl: url,
      apiKey,
      fetch: (input, init) => fetchPatiently(out, input, init),
      headers: isSession
        ? // Changes by a session are taken from the server's own origin only.
          { ...headers, cookie: session.cookie, origin: new URL(url).origin }
        : headers,
    });
  } catch (error) {
    if (error instanceof TypeError) throw new CliError(error.message, EXIT.usage);
    throw error;
  }
}

/**
 * Fetches. Ctrl-C ends a read at once. A change under way is finished, so that its outcome is known. A note
 * explains the pause when the server asks to wait.
 */
async function fetchPatiently(
  out: Output,
  input: Parameters<typeof fetch>[0],
  init: RequestInit = {},
): Promise<Response> {
  const signals = [
    ...(init.method === "GET" ? [interruption] : []),
    ...(init.signal === null || init.signal === undefined ? [] : [init.signal]),
  ];
  const send = (): Promise<Response> => fetch(input, { ...init, signal: AbortSignal.any(signals) });
  const response = await (init.method === "GET" ? send() : asChange(send));
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  if (response.status === 429 && seconds > 0 && seconds <= 60) {
    out.note(`The server takes no more requests for ${seconds} s; waiting.`);
  }
  return response;
}
