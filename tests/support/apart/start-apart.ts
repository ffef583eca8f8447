import { randomBytes } from "node:crypto";
import type { Scope } from "@workflow/async";
import { COMPILE_CACHE, startLocalNats } from "@workflow/testkit";
import type { TestTokens } from "@workflow/testkit";
import { startBalancer } from "../../../deploy/dev/src/separate/balancer.ts";
import { startParts } from "../../../deploy/dev/src/separate/parts.ts";
import type { Parts } from "../../../deploy/dev/src/separate/parts.ts";
import { planProcesses, readyzUrlOf, REPLICAS } from "../../../deploy/dev/src/separate/plan.ts";
import type { Facts, ProcessPlan, Replicas } from "../../../deploy/dev/src/separate/plan.ts";

export interface ApartOptions {
  databaseUrl: string;
  tokens: TestTokens;
  /** Settings besides those of every part. */
  environment?: Readonly<Record<string, string>>;
  /** The NATS server; by default a server of its own. */
  natsUrl?: string;
  /** The keys in the form of SECRETS_KEK; by default a new one. */
  secretsKek?: string;
  /** The number of processes of each part; by default that of `npm run start:separate`. */
  replicas?: Partial<Replicas>;
  /** The host of each part; by default 127.0.0.1 for all. */
  placeOf?: NonNullable<Facts["placeOf"]>;
  /** The tree whose code each part runs; by default this one. */
  rootOf?: NonNullable<Facts["rootOf"]>;
  /** Gets every line that is logged. */
  onLine?: (line: string) => void;
  /** Whether the start resolves at once, instead of when everything is ready. */
  isImpatient?: boolean;
}

/** The parts of a system as processes of their own, with a balancer before the gateways. */
export interface Apart {
  /** The origin of the balancer. */
  origin: string;
  parts: Parts;
  /** The origin of one gateway, such as `gateway-2`. */
  originOf(gateway: string): string;
  natsUrl: string;
}

/** The connections of a pool, few enough for all gateways of one test server. */
const POOL_SIZE = "5";
const READY_TIMEOUT_MS = 150_000;

/** Settings for tests about the results of requests, not about how many there may be. */
const TEST_SETTINGS = {
  DATABASE_POOL_SIZE: POOL_SIZE,
  WORKER_CONCURRENCY: "50",
  OUTBOUND_ALLOW_PRIVATE: "true",
  GRPC_REFLECTION: "false",
  // No client is there while parts stop.
  STOP_DELAY_MS: "0",
  // The balancer.
  TRUSTED_PROXIES: "1",
  RATE_LIMIT_READ: "0",
  RATE_LIMIT_WRITE: "0",
  RATE_LIMIT_EXECUTE: "0",
  OPENAI_MODEL: "gpt-test",
  ANTHROPIC_MODEL: "claude-test",
  OPENAI_BASE_URL: "http://127.0.0.1:1",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
} as const;

/** Starts the parts, with the code of `npm run start:separate`. The scope ends them. */
export async function startApart(options: ApartOptions, scope: Scope): Promise<Apart> {
  const { databaseUrl, tokens, environment = {} } = options;
  let { natsUrl } = options;
  if (natsUrl === undefined) {
    const nats = await startLocalNats();
    scope.defer(() => nats.stop());
    natsUrl = nats.url;
  }
  const url = natsUrl;
  const { keys } = tokens;
  const facts = {
    databaseUrlOf: () => databaseUrl,
    natsUrlOf: () => url,
    signingKeys: {
      gateway: keys.gateway.privateKeyPem,
      workflows: keys.workflows.privateKeyPem,
      runs: keys.runs.privateKeyPem,
      webhooks: keys.webhooks.privateKeyPem,
      admin: keys.admin.privateKeyPem,
    },
    secretsKek: options.secretsKek ?? randomBytes(32).toString("base64"),
    tlsOf: null,
    ...(options.placeOf === undefined ? {} : { placeOf: options.placeOf }),
    ...(options.rootOf === undefined ? {} : { rootOf: options.rootOf }),
    environment: {
      ...COMPILE_CACHE,
      PATH: process.env["PATH"],
      LOG_LEVEL: process.env["TEST_LOG_LEVEL"] ?? "error",
      ...TEST_SETTINGS,
      ...environment,
    },
  };
  const plans = await planProcesses(facts, { ...REPLICAS, ...options.replicas });
  const parts = startParts(
    {
      plans,
      onLine: (process, line) => report(options.onLine, process, line),
      tell: (text) => report(options.onLine, "supervisor", text),
      signal: new AbortController().signal,
    },
    scope,
  );
  const originOf = (name: string) =>
    `http://${parts.named(name).plan.place.host}:${parts.named(name).plan.ports.get("PORT") ?? 0}`;
  const gateways = parts.of("gateway").map(({ plan }) => placeOf(plan));
  const balancer = await startBalancer({
    host: "127.0.0.1",
    port: 0,
    gateways,
    isBehindProxies: false,
  });
  scope.defer(() => balancer.close());
  if (options.isImpatient !== true) await parts.untilReady(READY_TIMEOUT_MS);
  return { origin: `http://127.0.0.1:${balancer.port}`, parts, originOf, natsUrl: url };
}

function placeOf(plan: ProcessPlan) {
  return {
    host: plan.place.host,
    port: plan.ports.get("PORT") ?? 0,
    readyzUrl: readyzUrlOf(plan),
  };
}

function report(onLine: ApartOptions["onLine"], process_: string, line: string): void {
  onLine?.(line);
  if (process.env["TEST_LOG_LEVEL"] !== undefined) process.stderr.write(`${process_}: ${line}\n`);
}
