import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { usageError } from "../failures.ts";
import { writeWholeFile } from "../files/write-whole-file.ts";

const profileSchema = z.object({
  /** The base URL; ends in the API's path, such as /api/v1. */
  url: z.string(),
  apiKey: z.string().optional(),
  session: z
    .object({
      /** The session's cookie, `wfs_session=…`, as it is sent. */
      cookie: z.string(),
      email: z.string(),
      company: z.string(),
      expiresAt: z.string(),
    })
    .optional(),
});

const configSchema = z.object({
  current: z.string(),
  profiles: z.record(z.string(), profileSchema),
});

/** A server with a way to authenticate there: a key or a session. */
export type Profile = z.infer<typeof profileSchema>;
/** All profiles of the person, and which one is used by default. */
export type Config = z.infer<typeof configSchema>;

/** The path of the configuration: below `XDG_CONFIG_HOME`, by default `~/.config`. */
export function configPath(): string {
  const base = process.env["XDG_CONFIG_HOME"];
  const root = base === undefined || base === "" ? join(homedir(), ".config") : base;
  return join(root, "workflowctl", "config.json");
}

/**
 * The configuration; empty when there is no file yet.
 * @throws CliError when the file cannot be read or parsed
 */
export async function readConfig(): Promise<Config> {
  const path = configPath();
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return { current: "default", profiles: {} };
    }
    throw usageError(`The configuration ${path} cannot be read: ${String(error)}`);
  }
  const parsed = configSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  // The file holds secrets, so the message quotes no part of it.
  throw usageError(
    `The configuration ${path} is damaged.`,
    "Delete it and sign in again: workflowctl login",
  );
}

/** The profile of a name, which may be any word. */
export function profileOf({ profiles }: Config, name: string): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/** Replaces the configuration atomically. Only its owner can read it. */
export async function writeConfig(config: Config): Promise<void> {
  const path = configPath();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeWholeFile(path, `${JSON.stringify(config, null, 2)}\n`, 0o600);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
