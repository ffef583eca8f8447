import { createPublicKey } from "node:crypto";
import { SETTINGS } from "@workflow/service";
import type { SettingName } from "@workflow/service";
import type { SigningKeys } from "../keys.ts";
import type { DatabaseUrlOf } from "../service-logins.ts";
import { PARTS } from "../topology.ts";
import type { Part, PartName, ServiceName } from "../topology.ts";
import { freePorts } from "./free-ports.ts";

/** How many processes of each part run side by side. */
export type Replicas = Readonly<Record<PartName, number>>;

/** Two of whatever takes requests or makes progress, so that each may be killed. */
export const REPLICAS: Replicas = {
  gateway: 2,
  workflows: 1,
  "runs-api": 2,
  "runs-worker": 2,
  tables: 2,
  integrations: 1,
  webhooks: 2,
};

/** Certificates of one service, as paths of PEM files. */
export interface TlsFiles {
  certFile: string;
  keyFile: string;
  caFile: string;
}

/** What the processes of a system are told. */
export interface Facts {
  databaseUrlOf: DatabaseUrlOf;
  /** The address of NATS with the user of a service. */
  natsUrlOf: (service: ServiceName) => string;
  signingKeys: SigningKeys;
  /** In the form of INTERNAL_TOKEN_PUBLIC_KEYS: whose tokens are accepted besides. */
  morePublicKeys?: string | undefined;
  /** In the form of SECRETS_KEK. */
  secretsKek: string;
  /** Null for plain text on this machine. */
  tlsOf: ((service: ServiceName) => TlsFiles) | null;
  /** Settings of the operator's, and variables of the machine such as PATH. */
  environment: Readonly<Record<string, string | undefined>>;
}

/** One process to start. */
export interface ProcessPlan {
  /** The part, with a number where there are several: `gateway-1`. */
  name: string;
  part: Part;
  environment: Readonly<Record<string, string>>;
  /** On 127.0.0.1; of each listener the port by its setting. */
  ports: ReadonlyMap<SettingName, number>;
}

/** Settings that are said here and by nobody else. */
const OWN_SETTINGS: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "NATS_URL",
  "SECRETS_KEK",
  "INTERNAL_TOKEN_PRIVATE_KEY",
  "INTERNAL_TOKEN_PUBLIC_KEYS",
  "GRPC_TLS_CERT_FILE",
  "GRPC_TLS_KEY_FILE",
  "GRPC_TLS_CA_FILE",
  "METRICS_HOST",
]);

/** Gives each process its ports, and its own settings only: no key, no login and no address beside. */
export async function planProcesses(facts: Facts, replicas: Replicas): Promise<ProcessPlan[]> {
  const places = PARTS.flatMap((part) =>
    Array.from({ length: replicas[part.name] }, (_, index) => ({
      part,
      name: replicas[part.name] === 1 ? part.name : `${part.name}-${index + 1}`,
    })),
  );
  const free = await freePorts(places.reduce((sum, { part }) => sum + part.listens.length, 0));
  const located = places.map(({ part, name }) => ({
    part,
    name,
    ports: new Map(part.listens.map(({ setting }) => [setting, free.pop() ?? 0])),
  }));
  return located.map((place) => ({
    ...place,
    environment: {
      ...passedOn(place.part, facts.environment),
      ...place.part.fixed,
      ...identityOf(place.part, facts),
      ...ownAddresses(place.ports),
      ...addressesOfOthers(place.part, located),
      METRICS_HOST: "127.0.0.1",
    },
  }));
}

/** Where a process says what it lacks. */
export function readyzUrlOf({ ports }: ProcessPlan): string {
  return `http://127.0.0.1:${ports.get("METRICS_PORT")}/readyz`;
}

/** The variables of the machine, and of the settings those that the part reads. */
function passedOn(part: Part, environment: Facts["environment"]): Record<string, string> {
  const read: ReadonlySet<string> = new Set(part.settings);
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      if (value === undefined || OWN_SETTINGS.has(name)) return false;
      if (Object.hasOwn(SETTINGS, name)) return read.has(name);
      return part.readsProviders || !isProviderSetting(name);
    }),
  );
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
  }
  return given;
}

/** Every issuer's: what a token may claim is judged by its issuer and its audience, not by this list. */
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

function ownAddresses(ports: ReadonlyMap<SettingName, number>): Record<string, string> {
  return Object.fromEntries(
    [...ports].map(([setting, port]) => [
      setting,
      setting.endsWith("_ADDR") ? `127.0.0.1:${port}` : String(port),
    ]),
  );
}

/** Of several replicas all are named; calls are spread over them. */
function addressesOfOthers(
  part: Part,
  places: readonly Pick<ProcessPlan, "part" | "ports">[],
): Record<string, string> {
  return Object.fromEntries(
    part.calls.map(({ to, setting }) => {
      const callees = places.filter((place) => place.part.name === to);
      return [setting, callees.map(({ ports }) => `127.0.0.1:${ports.get(setting)}`).join(",")];
    }),
  );
}
