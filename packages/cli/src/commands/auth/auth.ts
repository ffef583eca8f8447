import type { Command } from "@commander-js/extra-typings";
import { isApiError } from "@workflow/client";
import type { ResponseInfo } from "@workflow/client";
import { act, examples } from "../../action.ts";
import { chosenProfile, givenUrl, keyOfStdin } from "../../config/access.ts";
import { configPath, profileOf, readConfig, writeConfig } from "../../config/config-file.ts";
import type { Profile } from "../../config/config-file.ts";
import { clientFor } from "../../context.ts";
import type { Context } from "../../context.ts";
import { CliError, toFailure, usageError } from "../../failures.ts";
import { ask, readAllOfStdin } from "../../input.ts";
import { fieldLines, showTable } from "../../output/list.ts";
import { plain, time } from "../../output/output.ts";

const COOKIE = "wfs_session";
const PROFILE_NAME = /^[a-z\d][\w.@-]{0,63}$/i;

/** Adds `login` and `logout`. */
export function addSignIn(program: Command): void {
  program
    .command("login")
    .description("Sign in, by e-mail and password or with an API key")
    .option("--with-key", "with an API key, which is asked for")
    .option("--email <address>", "with this e-mail address")
    .option("--password-stdin", "the password comes by standard input")
    .option("--company <id>", "the company to sign in to; by default the one used last")
    .addHelpText(
      "after",
      `
The profile is kept in ${configPath()}, which only you can read. A password is never kept. A session ends 12 hours
after its last use. Scripts need no sign-in: set WORKFLOW_URL and WORKFLOW_API_KEY.
${examples(
  "workflowctl login --url https://workflows.example.com",
  "workflowctl login --url http://localhost:8080 --with-key",
  "workflowctl login --profile staging --url https://staging.example.com --api-key-stdin < key",
)}`,
    )
    .action(
      act(async (context, options) => {
        const { out } = context;
        const name = await chosenProfile(context.options);
        if (!PROFILE_NAME.test(name)) {
          throw usageError(
            "A profile's name must be letters, digits and . _ @ -, at most 64 of them.",
          );
        }
        const url = await addressToUse(context, name);
        const isKey = options.withKey === true || context.options.apiKeyStdin === true;
        const profile = isKey
          ? await signInByKey(context, url)
          : await signInByPassword(context, url, options);
        const config = await readConfig();
        const profiles = { ...config.profiles, [name]: profile };
        await writeConfig({ current: name, profiles });
        out.show({ profile: name, url, by: whoOf(profile) }, [
          `Signed in to ${url} as ${plain(whoOf(profile))} (profile ${name}).`,
        ]);
      }),
    );
  addLogout(program);
}

function addLogout(program: Command): void {
  program
    .command("logout")
    .description("End the session and forget the profile")
    .action(
      act(async ({ out, options }) => {
        const name = await chosenProfile(options);
        const config = await readConfig();
        const profile = profileOf(config, name);
        if (profile === undefined) throw usageError(`There is no profile ${name}.`);
        const { [name]: _, ...others } = config.profiles;
        // The session is forgotten here, whatever the server answers.
        await writeConfig({ current: config.current, profiles: others });
        if (profile.session !== undefined) {
          await clientFor(profile, out)
            .sessions.delete()
            .catch((error: unknown) => explainLostSession(error, name));
        }
        out.show({ profile: name }, [`The profile ${name} is forgotten.`]);
        if (profile.apiKey !== undefined)
          out.note("Its API key is still good; revoke it with workflowctl keys revoke.");
      }),
    );
}

/** A session that has expired needs no end. */
function explainLostSession(error: unknown, name: string): void {
  if (isApiError(error, "UNAUTHORIZED")) return;
  const { message, exitCode, hints } = toFailure(error);
  throw new CliError(
    `The profile ${name} is forgotten, but its session goes on: ${message}`,
    exitCode,
    {
      cause: error,
      hints: [...hints, "It ends by itself, 12 hours after its last use."],
    },
  );
}

async function addressToUse({ options }: Context, name: string): Promise<string> {
  const url = givenUrl(options) ?? profileOf(await readConfig(), name)?.url;
  if (url !== undefined) return url;
  throw usageError(
    `The address of the server is not known (profile ${name}).`,
    "Say --url https://…",
  );
}

async function signInByKey({ out, options }: Context, url: string): Promise<Profile> {
  const apiKey =
    options.apiKeyStdin === true
      ? await keyOfStdin()
      : (await ask("API key:", { hidden: true })).trim();
  const profile = { url, apiKey };
  try {
    await clientFor(profile, out).workflows.list({ limit: 1 });
  } catch (error) {
    // The key is valid; it lacks the scope for this call.
    if (!isApiError(error, "FORBIDDEN")) throw error;
  }
  return profile;
}

interface PasswordOptions {
  email?: string | undefined;
  passwordStdin?: true | undefined;
  company?: string | undefined;
}

async function signInByPassword(
  { out }: Context,
  url: string,
  options: PasswordOptions,
): Promise<Profile> {
  const email = options.email ?? (await ask("E-mail:")).trim();
  const password =
    options.passwordStdin === true
      ? (await readAllOfStdin()).replace(/\r?\n$/, "")
      : await ask("Password:", { hidden: true });
  let cookie: string | undefined;
  const onResponse = ({ headers }: ResponseInfo): void => {
    const cookies = headers.getSetCookie();
    cookie = cookies.find((line) => line.startsWith(`${COOKIE}=`))?.split(";")[0];
  };
  const { company } = options;
  const session = await clientFor({ url }, out).sessions.create(
    { email, password, ...(company === undefined ? {} : { company }) },
    { onResponse },
  );
  if (cookie === undefined) throw usageError("The server has sent no session.");
  return {
    url,
    session: { cookie, email, company: session.company.name, expiresAt: session.expiresAt },
  };
}

function whoOf({ session }: Profile): string {
  return session === undefined ? "an API key" : `${session.email} of ${session.company}`;
}

/** Adds `profiles` and its verbs. */
export function addProfiles(program: Command): void {
  const profiles = program.command("profiles").description("Servers that you are signed in to");
  profiles
    .command("list")
    .description("List the profiles; the one with * counts when none is named")
    .action(
      act(async ({ out }) => {
        const config = await readConfig();
        const entries = Object.entries(config.profiles).map(([name, profile]) => ({
          name,
          url: profile.url,
          by: whoOf(profile),
          current: name === config.current,
        }));
        if (out.isJson) return out.json(entries);
        if (entries.length === 0)
          return out.note("There are none; sign in with workflowctl login.");
        showTable(out, entries, {
          columns: [
            { title: "", of: ({ current }) => (current ? "*" : "") },
            { title: "name", of: ({ name }) => name },
            { title: "server", of: ({ url }) => url },
            { title: "as", of: ({ by }) => by },
          ],
        });
      }),
    );
  profiles
    .command("use")
    .description("Make a profile the one that counts when none is named")
    .argument("<name>", "a profile")
    .action(
      act(async ({ out }, name) => {
        const config = await readConfig();
        if (profileOf(config, name) === undefined) throw usageError(`There is no profile ${name}.`);
        await writeConfig({ ...config, current: name });
        out.show({ current: name }, [`The profile ${name} counts from now on.`]);
      }),
    );
}

/** Adds `whoami`. */
export function addWhoAmI(program: Command): void {
  program
    .command("whoami")
    .description("Show who is signed in, in a session")
    .action(
      act(async ({ out, connect }) => {
        const session = await (await connect()).sessions.get();
        out.show(session, [
          ...fieldLines({
            person: plain(`${session.user.name} <${session.user.email}>`),
            company: plain(`${session.company.name} (${session.company.id})`),
            role: session.role,
            "ends at": time(session.expiresAt),
          }),
          ...session.companies.map(({ id, name, role }) => plain(`  ${id}  ${role}  ${name}`)),
        ]);
      }),
    );
}
