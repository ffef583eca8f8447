import { createPublicKey } from "node:crypto";
import { join } from "node:path";
import type { SettingName } from "@workflow/service";
import { SETTINGS } from "../setting-catalogue.ts";
import type { SigningKeys } from "../keys.ts";
import type { DatabaseUrlOf } from "../service-logins.ts";
import { PARTS, partOf } from "../topology.ts";
import type { Part, PartName, ServiceName } from "../topology.ts";
import { freePorts } from "./free-ports.ts";

/** The number of processes of each part. */
export type Replicas = Readonly<Record<PartName, number>>;

/** Two processes of each part that takes requests or makes progress, so that each may be killed. */
export const REPLICAS: Replicas = {
  gateway: 2,
  workflows: 1,
  "runs-api": 2,
  "runs-worker": 2,
  tables: 2,
  integrations: 1,
  webhooks: 2,
};

/** The certificates of one service, as paths of PEM files. */
export interface TlsFiles {
  certFile: string;
  keyFile: string;
  caFile: string;
}

/** The place where a process runs. */
export interface Place {
  /** The address on which it listens and others find it. */
  host: string;
  /** The program that starts it, with arguments; empty for a normal start. */
  launcher: readonly string[];
}

/** The facts from which all processes get their settings. */
export interface Facts {
  databaseUrlOf: DatabaseUrlOf;
  /** The NATS address with a service's user. */
  natsUrlOf: (service: ServiceName) => string;
  signingKeys: SigningKeys;
  /** Further accepted public keys, in the form of INTERNAL_TOKEN_PUBLIC_KEYS. */
  morePublicKeys?: string | undefined;
  /** The keys for secrets, in the form of SECRETS_KEK. */
  secretsKek: string;
  /** The certificates of a service; null for plain text on this machine. */
  tlsOf: ((service: ServiceName) => TlsFiles) | null;
  /** Ports that no process may get, such as the balancer's. */
  keptPorts?: readonly number[];
  /** The place of a process; 127.0.0.1 by default. */
  placeOf?: (process: string) => Place;
  /** The tree whose code a process runs; this one by default. */
  rootOf?: (process: string) => string | undefined;
  /** Worker pools with a process of their own, beside the workers of the default pool. */
  pools?: readonly string[];
  /** The operator's settings, and variables of the machine such as PATH. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** A process to start. */
export interface ProcessPlan {
  /** The part, numbered where there are several: `gateway-1`. */
  name: string;
  part: Part;
  /** The tree whose code it runs. */
  root: string;
  environment: Readonly<Record<string, string>>;
  place: Place;
  /** The port of each listener, by setting. */
  ports: ReadonlyMap<SettingName, number>;
}

/** The tree that contains this file. */
export const OWN_ROOT = join(import.meta.dirname, "../../../..");

/** The place of a normal process on this machine. */
export const ON_LOOPBACK: Place = { host: "127.0.0.1", launcher: [] };

/** Settings that only this plan gives. */
const OWN_SETTINGS: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "NATS_URL",
  "SECRETS_KEK",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "WEBHOOKS_HTTP_TLS",
  "METRICS_HOST",
]);

/** Gives each process its ports and only its own settings: no further key, login or address. */
export async function planProcesses(facts: Facts, replicas: Replicas): Promise<ProcessPlan[]> {
  const places = PARTS.flatMap((part) =>
    Array.from({ length: replicas[part.name] }, (_, index) => ({
      part,
      name: replicas[part.name] === 1 ? part.name : `${part.name}-${index + 1}`,
      more: {},
    })),
  );
  for (const pool of facts.pools ?? []) {
    const part = partOf("runs-worker");
    places.push({ part, name: `${part.name}-of-${pool}`, more: { RUNS_POOL: pool } });
  }
  const count = places.reduce((sum, { part }) => sum + part.listens.length, 0);
  const free = await freePorts(count, facts.keptPorts);
  const located = places.map(({ part, name, more }) => ({
    part,
    name,
    more,
    root: facts.rootOf?.(name) ?? OWN_ROOT,
    place: facts.placeOf?.(name) ?? ON_LOOPBACK,
    ports: new Map(part.listens.map(({ setting }) => [setting, free.pop() ?? 0])),
  }));
  return located.map(({ more, ...process }) => ({
    ...process,
    environment: {
      ...passedOn(process.part, facts.environment, more),
      ...process.part.fixed,
      ...identityOf(process.part, facts),
      ...ownAddresses(process),
      ...addressesOfOthers(process.part, located),
      METRICS_HOST: process.place.host,
      ...more,
    },
  }));
}

/** The address where a process tells what it lacks. */
export function readyzUrlOf({ place, ports }: ProcessPlan): string {
  return `http://${place.host}:${ports.get("METRICS_PORT")}/readyz`;
}

/** The address where a living process answers. */
export function livezUrlOf({ place, ports }: ProcessPlan): string {
  return `http://${place.host}:${ports.get("METRICS_PORT")}/livez`;
}

/** The machine's variables, and those settings that the part reads and this plan does not give. */
function passedOn(
  part: Part,
  environment: Facts["environment"],
  chosen: Record<string, string>,
): Record<string, string> {
  const read: ReadonlySet<string> = new Set(part.settings);
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => {
      const [given, value] = entry;
      const name = settingOf(given);
      if (value === undefined || OWN_SETTINGS.has(name)) return false;
      if (Object.hasOwn(chosen, name)) return false;
      if (Object.hasOwn(SETTINGS, name)) return read.has(name);
      return part.readsProviders || !isProviderSetting(name);
    }),
  );
}

/** The setting of a variable that holds its value or names its file. */
function settingOf(variable: string): string {
  const isSetting = Object.hasOwn(SETTINGS, variable) || OWN_SETTINGS.has(variable);
  return isSetting ? variable : variable.replace(/_FILE$/, "");
}

function isProviderSetting(name: string): boolean {
  return /_(BASE_URL|CLIENT_ID|CLIENT_SECRET|EVENTS_TARGET)$/.test(name);
}

function identityOf(part: Part, facts: Facts): Record<string, string> {
  const given: Record<string, string> = {
    DATABASE_URL: facts.databaseUrlOf(part.service),
    NATS_URL: facts.natsUrlOf(part.natsUser),
  };
  const { signsAs, settings } = part;
  if (signsAs !== null) given["INTERNAL_TOKEN_PRIVATE_KEY"] = base64(facts.signingKeys[signsAs]);
  if (settings.includes("INTERNAL_TOKEN_PUBLIC_KEYS")) {
    given["INTERNAL_TOKEN_PUBLIC_KEYS"] = publicKeys(facts);
  }
  if (settings.includes("SECRETS_KEK")) given["SECRETS_KEK"] = facts.secretsKek;
  const tls = facts.tlsOf?.(part.service);
  if (tls !== undefined) {
    given["GRPC_TLS_CERT_FILE"] = tls.certFile;
    given["GRPC_TLS_KEY_FILE"] = tls.keyFile;
    given["GRPC_TLS_CA_FILE"] = tls.caFile;
    if (settings.includes("WEBHOOKS_HTTP_TLS")) given["WEBHOOKS_HTTP_TLS"] = "true";
  }
  return given;
}

/**
 * The keys of all issuers. A token's issuer and audience decide what it may claim, not this list.
 */
function publicKeys({ signingKeys, morePublicKeys }: Facts): string {
  const own = Object.entries(signingKeys).map(
    ([issuer, privateKey]) => `${issuer}=${base64(publicHalf(privateKey))}`,
  );
  return [...own, ...(morePublicKeys === undefined ? [] : [morePublicKeys])].join(",");
}

function publicHalf(privateKeyPem: string): string {
  return createPublicKey(privateKeyPem).export({ type: "spki", format: "pem" }).toString();
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}

function ownAddresses({ place, ports }: Pick<ProcessPlan, "place" | "ports">) {
  return Object.fromEntries(
    [...ports].map(([setting, port]) => [
      setting,
      setting.endsWith("_ADDR") ? `${place.host}:${port}` : String(port),
    ]),
  );
}

/**
 * The addresses of the parts that are called. All replicas are named; calls are spread over them.
 */
function addressesOfOthers(
  part: Part,
  processes: readonly Pick<ProcessPlan, "part" | "place" | "ports">[],
): Record<string, string> {
  return Object.fromEntries(
    part.calls.map(({ to, setting }) => {
      const callees = processes.filter((process) => process.part.name === to);
      const addresses = callees.map(({ place, ports }) => `${place.host}:${ports.get(setting)}`);
      return [setting, addresses.join(",")];
    }),
  );
}
