import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createScope } from "@workflow/async";
import { findLocalPostgres } from "@workflow/local-postgres";
import {
  freePort,
  startLocalNats,
  startNangoDouble,
  startOAuthDouble,
  startSmtpDouble,
} from "@workflow/testkit";
import type { NangoDouble, OAuthDouble, SmtpDouble } from "@workflow/testkit";
import {
  cleanUp,
  launchStart,
  runAdmin,
  temporaryFolder,
  testSettings,
  whenReady,
} from "../../deploy/dev/tests/support/system.ts";
import type { Outcome, RunningProcess } from "../../deploy/dev/tests/support/system.ts";
import type { Evidence } from "./evidence.ts";
import { createHide } from "./hide.ts";
import type { Hide } from "./hide.ts";
import { startModels } from "./models.ts";
import type { Models } from "./models.ts";
import { startRestTap } from "./rest-tap.ts";
import type { RestTap } from "./rest-tap.ts";
import { AUTHORIZED, CLIENT_ID, makeSettings } from "./secret-settings.ts";
import { learnShown } from "./shown-by-contract.ts";
import { startWorld } from "./world.ts";
import type { World } from "./world.ts";

/** The system of somebody who clones the project and says `npm start`, with everything around it. */
export interface Installation {
  hide: Hide;
  dataDir: string;
  natsFolder: string;
  natsUrl: string;
  settings: Readonly<Record<string, string>>;
  tap: RestTap;
  world: World;
  /** The authorization server of each provider in AUTHORIZED. */
  oauth: ReadonlyMap<string, OAuthDouble>;
  broker: NangoDouble;
  models: Models;
  mail: Mail;
  /** Starts the system, with further settings; its output becomes evidence under the title. */
  start: (title: string, more?: Readonly<Record<string, string>>) => Promise<void>;
  /** Stops the system; the next start goes on with its data. */
  stop: () => Promise<void>;
  /** Fails to start, with these settings. */
  failToStart: (title: string, more: Readonly<Record<string, string>>) => Promise<void>;
  /** Runs an admin command, whose output becomes evidence. */
  admin: (
    commandLine: string,
    stdin?: string,
    more?: Readonly<Record<string, string>>,
  ) => Promise<Outcome>;
  /** The superuser's address. */
  databaseUrl: () => Promise<string>;
  /** Stops everything, NATS as well, so that all files are written. */
  close: () => Promise<void>;
}

/** The mail server. */
export interface Mail {
  /** Whether the server refuses messages, with the credentials in its words. */
  refuses: boolean;
  messages: SmtpDouble["messages"];
}

/** Starts everything but the system itself. The request ids of clients hold `control`. */
export async function prepareInstallation(
  evidence: Evidence,
  control: string,
): Promise<Installation> {
  const scope = createScope();
  return scope.guard(async () => {
    scope.defer(cleanUp);
    const hide = createHide(evidence);
    const folder = await temporaryFolder();
    const dataDir = join(folder, "data");
    const natsFolder = join(folder, "nats");
    const world = scope.adopt(await startWorld(evidence), (each) => each.close());
    const broker = scope.adopt(await startNangoDouble(["slack", "plaid"]), (each) => each.close());
    evidence.hide({ name: "NANGO_SECRET_KEY", core: broker.secretKey });
    const { mail, mailUrl } = await startMail(hide, scope);
    const natsUrl = await startNats(natsFolder, hide, scope);
    const settings: Record<string, string> = {
      ...(await ownAddresses(dataDir)),
      ...makeSettings(hide, { worldUrl: world.url, mailUrl, natsUrl }),
    };
    const oauth = await startAuthorizationServers(settings, scope);
    const { OPENAI_API_KEY: openai = "", ANTHROPIC_API_KEY: anthropic = "" } = settings;
    const models = scope.adopt(await startModels({ openai, anthropic }), (each) => each.close());
    Object.assign(settings, models.settings);
    const port = (): number => Number(settings["PORT"]);
    const tap = scope.adopt(await startRestTap(evidence, control, port), (each) => each.close());
    const outside = { hide, natsFolder, natsUrl, tap, world, oauth, broker, models, mail };
    const programs = createPrograms(evidence, settings, dataDir);
    scope.defer(() => programs.stop());
    return { ...outside, dataDir, settings, ...programs, close: () => scope.close() };
  });
}

type Programs = Pick<Installation, "start" | "stop" | "failToStart" | "admin" | "databaseUrl">;

/** The system and its admin commands, all of whose output becomes evidence. */
function createPrograms(
  evidence: Evidence,
  settings: Readonly<Record<string, string>>,
  dataDir: string,
): Programs {
  let running: (RunningProcess & { title: string }) | undefined;
  const keep = (title: string, { stdout, stderr }: Pick<Outcome, "stdout" | "stderr">): void => {
    learnShown(evidence, `terminal: ${title}`, stdout);
    evidence.add("terminal", title, `${stdout}\n${stderr}`);
  };
  return {
    async start(title, more = {}) {
      const started = launchStart({ ...settings, ...more });
      running = { ...started, title };
      await whenReady(started, settings);
      await hideKeys(evidence, dataDir);
    },
    async stop() {
      if (running === undefined) return;
      const { child, ended, title } = running;
      running = undefined;
      child.kill("SIGTERM");
      keep(title, await ended);
    },
    async failToStart(title, more) {
      keep(title, await launchStart({ ...settings, ...more }).ended);
    },
    async admin(commandLine, stdin, more = {}) {
      const outcome = await runAdmin({ ...settings, ...more }, `${commandLine} --json`, stdin);
      const title = `${commandLine.split(" ")[0]} ${outcome.exitCode}`;
      const printed = `${outcome.stdout}\n${outcome.stderr}`;
      learnShown(evidence, `admin commands: ${title}`, printed);
      evidence.add("admin commands", title, printed);
      await hideKeys(evidence, dataDir);
      return outcome;
    },
    async databaseUrl() {
      const found = await findLocalPostgres(dataDir);
      if (found === null) throw new Error("Postgres does not run.");
      return found.connectionUri;
    },
  };
}

/** Starts an authorization server for each provider in AUTHORIZED, and adds its address to the settings. */
async function startAuthorizationServers(
  settings: Record<string, string>,
  scope: Scope,
): Promise<ReadonlyMap<string, OAuthDouble>> {
  const servers = new Map<string, OAuthDouble>();
  for (const id of AUTHORIZED) {
    const prefix = id.toUpperCase().replaceAll("-", "_");
    const double = await startOAuthDouble({
      clientId: CLIENT_ID,
      clientSecret: settings[`${prefix}_CLIENT_SECRET`] ?? "",
      ...(id === "google-mail" ? { issuer: "https://accounts.google.com" } : {}),
    });
    scope.defer(() => double.close());
    servers.set(id, double);
    settings[`${prefix}_OAUTH_BASE_URL`] = double.url;
  }
  return servers;
}

/** Settings with ports and a data folder that no other system has. */
async function ownAddresses(dataDir: string): Promise<Record<string, string>> {
  return {
    ...(await testSettings(dataDir)),
    ...(await grpcAddresses()),
    // The tour asks for more in a minute than one key may.
    RATE_LIMIT_READ: "0",
    RATE_LIMIT_WRITE: "0",
    RATE_LIMIT_EXECUTE: "0",
    METRICS_PORT: String(await freePort()),
    WEBHOOKS_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
  };
}

type Scope = ReturnType<typeof createScope>;

async function grpcAddresses(): Promise<Record<string, string>> {
  const services = ["WORKFLOWS", "RUNS", "TABLES", "INTEGRATIONS", "WEBHOOKS"];
  const entries = services.map(async (name) => {
    return [`${name}_GRPC_ADDR`, `127.0.0.1:${await freePort()}`] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** A mail server that wants a password, and repeats the password when it refuses. */
async function startMail(hide: Hide, scope: Scope): Promise<{ mail: Mail; mailUrl: string }> {
  const pass = hide("password of SMTP_URL", (core) => `p@ss/${core}+&`);
  const both = Buffer.from(`\0mailer\0${pass}`).toString("base64");
  const double = await startSmtpDouble({
    startTls: true,
    credentials: { user: "mailer", pass },
    refuseMessage: () =>
      mail.refuses ? { code: 554, text: `5.7.1 not with ${pass} or ${both}` } : undefined,
  });
  scope.defer(() => double.close());
  const { port, messages } = double;
  const mail: Mail = { refuses: false, messages };
  const mailUrl = `smtp://mailer:${encodeURIComponent(pass)}@127.0.0.1:${port}?tls.rejectUnauthorized=false`;
  return { mail, mailUrl };
}

/** NATS with a password, and with a store whose files tests read. */
async function startNats(folder: string, hide: Hide, scope: Scope): Promise<string> {
  await mkdir(folder, { recursive: true });
  const password = hide("password of NATS_URL");
  const file = join(folder, "nats.conf");
  await writeFile(
    file,
    `jetstream { store_dir: "${folder}/store" }\nauthorization { user: workflow, password: "${password}" }\n`,
  );
  const nats = await startLocalNats({ file, env: {} });
  scope.defer(() => nats.stop());
  const url = new URL(nats.url);
  return `nats://workflow:${password}@${url.host}`;
}

/** The keys that the system has made, each in its own file and nowhere else. */
async function hideKeys(evidence: Evidence, dataDir: string): Promise<void> {
  for (const name of await readdir(join(dataDir, "keys"))) {
    const text = await readFile(join(dataDir, "keys", name), "utf8");
    const shownIn = new RegExp(`^data folder: keys/${name}`);
    for (const key of text.split(/[\s,]+/).filter((part) => /^[\w+/=]{40,}$/.test(part))) {
      // The beginning of a PEM is the same in all keys of its kind.
      const core = key.startsWith("MC4CAQ") ? key.slice(22) : key;
      evidence.hide({ name, core, shownIn });
      evidence.hide({
        name: `${name}, its bytes`,
        core: Buffer.from(key, "base64").subarray(-32).toString("hex"),
        shownIn,
      });
    }
  }
  const access: unknown = JSON.parse(await readFile(join(dataDir, "postgres.json"), "utf8"));
  const password: unknown = Reflect.get(Object(access), "password");
  if (typeof password !== "string") throw new Error("Where is the superuser's password?");
  const shownIn = /^data folder: postgres\.json/;
  evidence.hide({ name: "password of the superuser", core: password, shownIn });
}
