import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import type { ConfigProblem } from "./config-error.ts";
import { PROVIDER_IDS, PROVIDER_SETTINGS, providerSettingName } from "./provider-settings.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { fileSettingName, readSettingFiles } from "./setting-files.ts";
import { NAMES_OF_SERVICES } from "./setting-names.ts";
import { PROCESS_SETTINGS, SHARED_SETTINGS } from "./settings.ts";
import { keysOf } from "./keys-of.ts";
import { findUnknownSettings } from "./unknown-settings.ts";

/** Environment variables as Node gives them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Names of secret settings. URLs of servers contain passwords, and a malformed URL may contain one
 * anywhere.
 */
const SECRET_NAME = /KEY|SECRET|TOKEN|PASSWORD|KEK|^(DATABASE|NATS|SMTP)_URL$|_HEADERS$/;
const MAY_HOLD_CREDENTIALS = /@/;
const SHOWN_VALUE_LENGTH_MAX = 60;

type SharedName = keyof typeof SHARED_SETTINGS;

/**
 * A schema of the named shared settings, for `parseConfig`. A service makes an optional setting
 * required with zod: `pickSettings("DATABASE_URL").required({ DATABASE_URL: true })`. The names are
 * needed there, because a bare `required()` would remove the defaults.
 */
export function pickSettings<const Name extends SharedName>(
  ...names: readonly Name[]
): z.ZodObject<Pick<typeof SHARED_SETTINGS, Name>>;
export function pickSettings(...names: readonly SharedName[]): z.ZodObject {
  return z.object(Object.fromEntries(names.map((name) => [name, SHARED_SETTINGS[name]])));
}

/**
 * A schema of all settings of a service's process: those of every process, the service's own, and the
 * named shared ones.
 */
export function serviceSettings<Own extends z.ZodRawShape, const Name extends SharedName>(
  own: Own,
  ...shared: readonly Name[]
): z.ZodObject<typeof PROCESS_SETTINGS & Own & Pick<typeof SHARED_SETTINGS, Name>>;
export function serviceSettings(own: z.ZodRawShape, ...shared: readonly SharedName[]): z.ZodObject {
  return z.object({ ...PROCESS_SETTINGS, ...own, ...pickSettings(...shared).shape });
}

/**
 * Reads settings from an environment, and from the files that `<NAME>_FILE` variables name. An empty
 * variable counts as not set.
 *
 * @throws ConfigError listing every fault at once, misspelt settings included; values that look secret
 * are not shown
 */
export function parseConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Environment,
): z.output<Schema> {
  const set = withoutEmpty(env);
  const names = Object.keys(schema.shape);
  const files = readSettingFiles(set, names);
  const given = { ...set, ...files.values };
  const result = schema.safeParse(given);
  // A setting whose file could not be read does not count as missing too.
  const unread = new Set(files.problems.map(({ setting }) => setting));
  const wrong = (result.error?.issues ?? [])
    .map(toProblem(given))
    .filter(({ setting }) => !unread.has(fileSettingName(setting)));
  const problems = [...files.problems, ...wrong, ...unknownProblems(set, names)];
  if (!result.success || problems.length > 0) throw new ConfigError(problems);
  return result.data;
}

/**
 * Reads the settings of the providers that have any.
 *
 * @throws ConfigError as `parseConfig`
 */
export function parseProviderSettings(env: Environment): Map<string, ProviderSettings> {
  const set = withoutEmpty(env);
  const files = readSettingFiles(set, providerSettingNames());
  const given = { ...set, ...files.values };
  const byProvider = new Map<string, ProviderSettings>();
  const problems: ConfigProblem[] = [...files.problems];

  function read(providerId: string, key: keyof typeof PROVIDER_SETTINGS): string | undefined {
    const name = providerSettingName(providerId, key);
    const result = PROVIDER_SETTINGS[key].schema.optional().safeParse(given[name]);
    const issues = result.error?.issues ?? [];
    problems.push(...issues.map((issue) => toProblem(given)({ ...issue, path: [name] })));
    return result.data;
  }

  for (const providerId of PROVIDER_IDS) {
    const baseUrl = read(providerId, "BASE_URL");
    const clientId = read(providerId, "CLIENT_ID");
    const secrets = read(providerId, "CLIENT_SECRET");
    const clientSecret = providerId === "hubspot" ? firstOf(secrets) : secrets;
    const oauthBaseUrl = read(providerId, "OAUTH_BASE_URL");
    const eventsTarget = read(providerId, "EVENTS_TARGET");
    const settings: ProviderSettings = {
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(oauthBaseUrl === undefined ? {} : { oauthBaseUrl }),
      ...(eventsTarget === undefined ? {} : { eventsTarget }),
    };
    if (Object.keys(settings).length > 0) byProvider.set(providerId, settings);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return byProvider;
}

function withoutEmpty(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [, value] = entry;
      return value !== undefined && value.trim() !== "";
    }),
  );
}

function unknownProblems(given: Environment, picked: readonly string[]): ConfigProblem[] {
  const ours = [...Object.keys(SHARED_SETTINGS), ...NAMES_OF_SERVICES];
  const names = [...ours, ...picked, ...providerSettingNames()];
  const known = [...new Set([...names, ...names.map(fileSettingName)])];
  return findUnknownSettings(Object.keys(given), known).map(({ name, suggestion }) => ({
    setting: name,
    message:
      suggestion === undefined ? "unknown setting" : `unknown setting; did you mean ${suggestion}?`,
  }));
}

/**
 * HubSpot signs its webhooks with the secret too. During a replacement there are two secrets, the
 * current one first.
 */
function firstOf(secrets: string | undefined): string | undefined {
  return secrets?.split(",", 1).at(0)?.trim();
}

function providerSettingNames(): string[] {
  return PROVIDER_IDS.flatMap((id) =>
    keysOf(PROVIDER_SETTINGS).map((key) => providerSettingName(id, key)),
  );
}

function toProblem(given: Environment): (issue: z.core.$ZodIssue) => ConfigProblem {
  return (issue) => {
    const setting = issue.path.map(String).join(".");
    const value = given[setting];
    if (value === undefined) return { setting, message: "is required but not set" };
    return { setting, message: `${showValue(setting, value)} is not allowed; ${issue.message}` };
  };
}

function showValue(name: string, value: string): string {
  if (SECRET_NAME.test(name) || MAY_HOLD_CREDENTIALS.test(value)) return "the value (not shown)";
  const shown =
    value.length > SHOWN_VALUE_LENGTH_MAX ? `${value.slice(0, SHOWN_VALUE_LENGTH_MAX)}…` : value;
  return JSON.stringify(shown);
}
