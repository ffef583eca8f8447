import { EXIT } from "../exit-codes.ts";
import { CliError, usageError } from "../failures.ts";
import { readAllOfStdin } from "../input.ts";
import { profileOf, readConfig } from "./config-file.ts";
import type { Profile } from "./config-file.ts";
import { toBaseUrl } from "./server-url.ts";

/** The options of every command that name the server and the identity. */
export interface AccessOptions {
  profile?: string | undefined;
  url?: string | undefined;
  apiKeyStdin?: boolean | undefined;
}

/** The server and the identity of a command. */
export interface Access extends Profile {
  /** Null when environment or options give everything. */
  profileName: string | null;
}

/** The profile in use: the option's, the environment's, or the current one. */
export async function chosenProfile(options: AccessOptions): Promise<string> {
  return options.profile ?? environment("WORKFLOW_PROFILE") ?? (await readConfig()).current;
}

/**
 * The address given for this command, which precedes any profile's. Undefined when none is given.
 */
export function givenUrl(options: AccessOptions): string | undefined {
  const url = options.url ?? environment("WORKFLOW_URL");
  return url === undefined ? undefined : toBaseUrl(url);
}

/**
 * Finds the server and the identity. Options precede the environment, which precedes the profile. A profile's key
 * or session is sent to no address but the profile's.
 * @throws CliError when no address or no identity is known
 */
export async function findAccess(options: AccessOptions): Promise<Access> {
  const url = givenUrl(options);
  const apiKey =
    options.apiKeyStdin === true ? await keyOfStdin() : environment("WORKFLOW_API_KEY");
  if (url !== undefined && apiKey !== undefined) return { profileName: null, url, apiKey };
  const name = await chosenProfile(options);
  const profile = profileOf(await readConfig(), name);
  if (profile === undefined) {
    const what = apiKey === undefined ? "Nobody is signed in" : "No server is known";
    throw new CliError(`${what} (profile ${name}).`, EXIT.notSignedIn, {
      hints: ["Sign in: workflowctl login", "In scripts set WORKFLOW_URL and WORKFLOW_API_KEY."],
    });
  }
  if (apiKey !== undefined) return { profileName: name, url: profile.url, apiKey };
  if (url !== undefined && new URL(url).origin !== new URL(profile.url).origin) {
    throw new CliError(
      `The profile ${name} is signed in to ${new URL(profile.url).origin}, not to ${new URL(url).origin}.`,
      EXIT.notSignedIn,
      { hints: ["Sign in there under a profile of its own: workflowctl login --profile other"] },
    );
  }
  return { ...profile, url: url ?? profile.url, profileName: name };
}

/** A key from standard input, without its line break. */
export async function keyOfStdin(): Promise<string> {
  const key = (await readAllOfStdin()).trim();
  if (key === "") throw usageError("--api-key-stdin: nothing came from standard input.");
  return key;
}

function environment(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === "" ? undefined : value;
}
