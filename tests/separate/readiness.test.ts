import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createTestDatabase, createTestTokens, freePort, waitFor } from "@workflow/testkit";
import { Client } from "pg";
import { startPartProcess } from "../../deploy/dev/src/separate/part-process.ts";
import { PARTS } from "../../deploy/dev/src/topology.ts";
import { startApart } from "../support/apart/start-apart.ts";
import type { Apart, ApartOptions } from "../support/apart/start-apart.ts";
import { startKillableNats } from "../support/killable-nats.ts";
import { createRelay } from "../support/relay.ts";
import {
  ONE_OF_EACH,
  NONE,
  STATE_TIMEOUT_MS,
  untilAll,
  addressOf,
  pidsOf,
  says,
  onlyTells,
  isWhole,
  isReady,
} from "../support/apart/part-states.ts";

/*
 * A part tells what it lacks while something that it needs is missing, and becomes ready by itself once that is
 * there. Each part is a process of its own.
 */

const TIMEOUT_MS = 400_000;

let scope: Scope;
let lines: string[];
beforeEach(() => {
  scope = createScope();
  lines = [];
});
afterEach(() => scope.close(), TIMEOUT_MS);

function start(options: Omit<ApartOptions, "tokens" | "isImpatient">): Promise<Apart> {
  const onLine = (line: string): void => void lines.push(line);
  const more = { tokens: createTestTokens(), isImpatient: true, onLine } as const;
  return startApart({ environment: { LOG_LEVEL: "warn" }, ...more, ...options }, scope);
}

async function database(): Promise<{ url: string; admin: Client }> {
  const made = await createTestDatabase();
  scope.defer(() => made.close());
  const admin = new Client({ connectionString: made.connectionUri });
  await admin.connect();
  scope.defer(() => admin.end());
  return { url: made.connectionUri, admin };
}

describe("parts that are started before what they need", () => {
  it(
    "become ready by themselves once Postgres and NATS are there, say what is missing until then, and when it is gone",
    async () => {
      const { url } = await database();
      const nats = await startKillableNats();
      scope.defer(() => nats.stop());
      await nats.kill();
      const late = new URL(url);
      const relay = await createRelay(addressOf(late));
      scope.defer(() => relay.close());
      late.host = `127.0.0.1:${relay.port}`;
      const apart = await start({
        databaseUrl: late.toString(),
        natsUrl: nats.url,
        replicas: ONE_OF_EACH,
      });

      await untilAll(
        apart,
        says("Postgres cannot be reached (ECONNREFUSED)"),
        "the lack to be told",
      );
      expect(apart.parts.processes).toHaveLength(PARTS.length);
      const pids = pidsOf(apart);

      await relay.open();
      const lacksEvents = ({ missing, impaired }: { missing: string[]; impaired: string[] }) =>
        missing.length === 0 && impaired.some((each) => each.startsWith("events: NATS"));
      await untilAll(apart, lacksEvents, "all parts to be ready without NATS");

      await nats.start();
      await apart.parts.untilReady(STATE_TIMEOUT_MS);

      await relay.close();
      await untilAll(apart, says("database: "), "the loss to be told");
      await relay.open();
      await apart.parts.untilReady(STATE_TIMEOUT_MS);
      // No process has ended on the way.
      expect(pidsOf(apart)).toEqual(pids);
    },
    TIMEOUT_MS,
  );
});

describe("a database that a part cannot use", () => {
  it(
    "is told in /readyz and by one line of the log, and used as soon as it is in order",
    async () => {
      const { url, admin } = await database();
      const login = `late_${randomBytes(6).toString("hex")}`;
      const password = randomBytes(12).toString("hex");
      await admin.query(`create role ${login} login password '${password}'`);
      scope.defer(async () => {
        await admin.query(`drop role ${login}`);
      });
      const own = new URL(url);
      own.username = login;
      own.password = password;
      await admin.query("alter schema tables rename to tables_elsewhere");

      const apart = await start({
        databaseUrl: own.toString(),
        replicas: { ...NONE, tables: 1 },
      });
      const [tables] = apart.parts.processes;
      const until = (check: (state: { missing: string[] }) => boolean, what: string) =>
        untilAll(apart, check, what);

      await until(says("its login may not act as workflow_tables"), "the wrong role to be told");
      await admin.query(`grant workflow_tables to ${login}`);
      await until(says("the schema tables is not there: migrate"), "the missing schema");
      await admin.query("alter schema tables_elsewhere rename to tables");
      const { rows } = await admin.query<{ number: number; name: string; sha256: string }>(
        "delete from tables.schema_migrations where number = (select max(number) from tables.schema_migrations) returning number, name, sha256",
      );
      const [newest] = rows;
      if (newest === undefined) throw new Error("There is no migration.");
      const old = `the schema tables has migration ${newest.number - 1} and this release needs ${newest.number}`;
      await until(says(old), "the old schema to be told");
      expect(tables?.pid()).toBeDefined();
      await admin.query(
        "insert into tables.schema_migrations (number, name, sha256) values ($1, $2, $3)",
        [newest.number, newest.name, newest.sha256],
      );
      await until(isReady, "the part to be ready");

      for (const reason of ["may not act as", "is not there: migrate", "this release needs"]) {
        expect(lines.filter((line) => line.includes(reason))).toHaveLength(1);
      }
      // The messages name no password.
      expect(lines.join("\n")).not.toContain(password);
      // The schema must be left as the role finds it, or it cannot be dropped.
      await admin.query(`revoke workflow_tables from ${login}`);
    },
    TIMEOUT_MS,
  );
});

describe("what hinders all replicas alike", () => {
  it(
    "is told by those that run, which stay ready, and keeps new ones waiting: a read-only database, a locked table",
    async () => {
      const { url, admin } = await database();
      const login = `apart_${randomBytes(6).toString("hex")}`;
      const password = randomBytes(12).toString("hex");
      await admin.query(
        `create role ${login} login password '${password}' in role workflow_tables`,
      );
      scope.defer(async () => {
        await admin.query(`revoke workflow_tables from ${login}`);
        await admin.query(`drop role ${login}`);
      });
      const own = new URL(url);
      own.username = login;
      own.password = password;
      const at = { databaseUrl: own.toString(), replicas: { ...NONE, tables: 1 } };
      const old = await start(at);
      await untilAll(old, isWhole, "the part to be ready");

      await admin.query(`alter role ${login} set default_transaction_read_only = on`);
      const readOnly = "Postgres takes no writes: default_transaction_read_only is on";
      await untilAll(old, onlyTells(readOnly), "the read-only database to be told");
      const fresh = await start(at);
      await untilAll(fresh, says(readOnly), "a new process to wait");
      await admin.query(`alter role ${login} reset default_transaction_read_only`);
      await untilAll(fresh, isWhole, "the new process to be ready");

      const holder = new Client({ connectionString: url });
      await holder.connect();
      const waiter = new Client({ connectionString: url });
      await waiter.connect();
      try {
        await holder.query("begin");
        await holder.query("lock table tables.rows in access exclusive mode");
        const waiting = waiter.query("select 1 from tables.rows limit 1");
        const locked = "the table tables.rows is locked";
        await untilAll(old, onlyTells(locked), "the locked table to be told");
        await holder.query("rollback");
        await waiting;
        await untilAll(old, isWhole, "the lock to be gone");
        await holder.query("begin");
        await holder.query("lock table tables.schema_migrations in access exclusive mode");
        const own = "the table tables.schema_migrations is locked";
        await untilAll(old, onlyTells(own), "the look's own table to be told");
        await holder.query("rollback");
        await untilAll(old, isWhole, "that lock to be gone");
      } finally {
        await Promise.all([holder.end(), waiter.end()]);
      }
    },
    TIMEOUT_MS,
  );
});

describe("a gateway whose key the services do not know", () => {
  it(
    "is not ready and names them, at both of its ports, and others stay ready",
    async () => {
      const { url } = await database();
      const apart = await start({
        databaseUrl: url,
        replicas: { ...NONE, gateway: 1, workflows: 1, "runs-api": 1 },
      });
      const [gateway] = apart.parts.of("gateway");
      if (gateway === undefined) throw new Error("There is no gateway.");
      await untilAll(apart, isReady, "all parts to be ready");
      const { plan } = gateway;
      const ports = new Map([...plan.ports.keys()].map((setting) => [setting, 0]));
      for (const setting of ports.keys()) ports.set(setting, await freePort());
      const { gateway: strange } = createTestTokens().keys;
      const environment = {
        ...plan.environment,
        ...Object.fromEntries([...ports].map(([setting, port]) => [setting, String(port)])),
        INTERNAL_TOKEN_PRIVATE_KEY: Buffer.from(strange.privateKeyPem).toString("base64"),
      };
      const other = startPartProcess({
        plan: { ...plan, name: "strange gateway", environment, ports },
        onLine: () => {},
        onEnd: () => {},
      });
      scope.defer(() => other.stop());

      const refuses = "refuses the tokens of gateway: its INTERNAL_TOKEN_PUBLIC_KEYS lack the key";
      const lacks = (name: string) => expect.stringContaining(`${name}: ${refuses}`);
      await waitFor(
        async () => {
          const { missing } = await other.state();
          expect(missing).toEqual([lacks("workflows"), lacks("runs")]);
        },
        { timeoutMs: STATE_TIMEOUT_MS, what: "the refusals to be told" },
      );
      const answer = await fetch(`http://127.0.0.1:${ports.get("PORT") ?? 0}/readyz`);
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 503,
        body: {
          error: {
            details: {
              missing: [
                "workflows refuses the gateway's tokens",
                "runs refuses the gateway's tokens",
              ],
            },
          },
        },
      });
      expect((await gateway.state()).missing).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("settings that cannot be right", () => {
  it(
    "end the start, and the last words of the process name them",
    async () => {
      const { url } = await database();
      const apart = await start({ databaseUrl: url, replicas: { ...NONE, tables: 1 } });
      const [tables] = apart.parts.processes;
      if (tables === undefined) throw new Error("There is no process.");
      await untilAll(apart, isReady, "the part to be ready");
      const { environment } = tables.plan;
      const wordsOf = async (changed: Record<string, string>): Promise<string> => {
        const plan = { ...tables.plan, environment: { ...environment, ...changed } };
        const other = startPartProcess({ plan, onLine: () => {}, onEnd: () => {} });
        scope.defer(() => other.stop());
        return other.refused.catch((error: unknown) => String(error));
      };

      expect(await wordsOf({ TABLES_CACHE_MB: "much" })).toContain('TABLES_CACHE_MB: "much"');
      expect(await wordsOf({ TABELS_CACHE_MB: "12" })).toContain("did you mean TABLES_CACHE_MB?");
      expect(await wordsOf({ DATABASE_URL: "" })).toContain("DATABASE_URL: is required");
      // The ports are those of the process that runs.
      expect(await wordsOf({})).toMatch(/METRICS_PORT: .*EADDRINUSE/);
      // Another program could take a named port between two of the starts.
      const elsewhere = { METRICS_PORT: "0" };
      expect(await wordsOf(elsewhere)).toContain(
        `Cannot listen on ${environment["TABLES_GRPC_ADDR"]}`,
      );
      const tls = { ...elsewhere, GRPC_TLS_CERT_FILE: "/nowhere/tables.pem" };
      expect(await wordsOf(tls)).toContain("GRPC_TLS_KEY_FILE is not");
      const both = { ...tls, GRPC_TLS_KEY_FILE: "/nowhere/tables.key" };
      expect(await wordsOf(both)).toContain(
        "GRPC_TLS_CERT_FILE: /nowhere/tables.pem cannot be read",
      );
      const wrong = { ...tls, GRPC_TLS_CERT_FILE: import.meta.filename };
      expect(await wordsOf({ ...wrong, GRPC_TLS_KEY_FILE: import.meta.filename })).toContain(
        "GRPC_TLS_CERT_FILE: ",
      );
      const plain = { ...elsewhere, TABLES_GRPC_ADDR: "0.0.0.0:0" };
      expect(await wordsOf(plain)).toContain("GRPC_ALLOW_PLAINTEXT");
    },
    TIMEOUT_MS,
  );
});
