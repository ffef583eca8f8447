import { describe, expect, it } from "@jest/globals";
import { generateKeyPairSync } from "node:crypto";
import {
  ConfigError,
  parseConfig,
  parseProviderSettings,
  serviceSettings,
  settingsTable,
} from "@workflow/service";
import type { Environment, SettingName } from "@workflow/service";
import { SETTINGS } from "../src/setting-catalogue.ts";

const everySetting = serviceSettings(SETTINGS);

describe("settings that are not set", () => {
  it("have the documented defaults, also when they are empty", () => {
    const config = parseConfig(everySetting, { PORT: "", LOG_LEVEL: "  " });

    expect(config).toMatchObject({
      PORT: 8080,
      DATA_DIR: ".data",
      TASK_RUNTIME: "postgres",
      WORKFLOWS_GRPC_ADDR: "127.0.0.1:50051",
      WEBHOOKS_GRPC_ADDR: "127.0.0.1:50055",
      RATE_LIMIT_READ: 1000,
      RATE_LIMIT_WRITE: 100,
      RATE_LIMIT_EXECUTE: 500,
      RATE_LIMIT_INBOUND: 10000,
      OUTBOUND_ALLOW_PRIVATE: false,
      WEBHOOK_REQUIRE_SIGNATURE: false,
      LOG_LEVEL: "info",
      METRICS_PORT: 9464,
    });
    expect(config.DELIVERY_RETRY_DELAYS_MS.map((ms) => ms / 1000)).toEqual([
      10, 30, 60, 300, 900, 3600, 21600, 86400,
    ]);
    expect(config.DATABASE_URL).toBeUndefined();
  });
});

describe("settings that are set", () => {
  const pair = generateKeyPairSync("ed25519");
  const pem = pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  const base64Pem = Buffer.from(pem).toString("base64");
  const publicPem = pair.publicKey.export({ format: "pem", type: "spki" }).toString();
  const base64Public = Buffer.from(publicPem).toString("base64");
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const rsaPublic = rsa.publicKey.export({ format: "pem", type: "spki" }).toString();
  const base64Rsa = Buffer.from(rsaPublic).toString("base64");
  const kek = Buffer.alloc(32, 7);
  const other = Buffer.alloc(32, 0xfb);

  it.each<[SettingName, string, unknown]>([
    ["PORT", "80", 80],
    ["RATE_LIMIT_READ", "0", 0],
    ["METRICS_PORT", "0", 0],
    ["OUTBOUND_ALLOW_PRIVATE", "TRUE", true],
    ["OUTBOUND_ALLOW_PRIVATE", "1", true],
    ["WEBHOOK_REQUIRE_SIGNATURE", "0", false],
    ["DELIVERY_RETRY_DELAYS_MS", "1, 20,300", [1, 20, 300]],
    ["SECRETS_KEK", kek.toString("base64"), [kek]],
    ["SECRETS_KEK", `${kek.toString("base64url")}, ${other.toString("base64")}`, [kek, other]],
    ["DATABASE_URL", "postgres://u:p@db:5432/w", "postgres://u:p@db:5432/w"],
    ["NANGO_BASE_URL", "https://broker.example/", "https://broker.example"],
    ["RUNS_GRPC_ADDR", "unix:/run/runs.sock", "unix:/run/runs.sock"],
    ["RUNS_GRPC_ADDR", "[::1]:50052", "[::1]:50052"],
    ["RUNS_GRPC_ADDR", "runs.internal:50052", "runs.internal:50052"],
    ["TASK_RUNTIME", "restate", "restate"],
    ["INTERNAL_TOKEN_PRIVATE_KEY", pem, pem.trim()],
    ["INTERNAL_TOKEN_PRIVATE_KEY", base64Pem, pem],
    [
      "INTERNAL_TOKEN_PUBLIC_KEYS",
      `gateway=${base64Public}, gateway=${base64Public},admin=${base64Public}`,
      { gateway: [publicPem, publicPem], admin: [publicPem] },
    ],
    ["GRPC_ALLOW_PLAINTEXT", "true", true],
  ])("are read into narrow types: %s=%s", (name, text, value) => {
    expect(parseConfig(everySetting, { [name]: text })[name]).toEqual(value);
  });

  it.each<[SettingName, string]>([
    ["PORT", "0"],
    ["PORT", "65536"],
    ["PORT", "80a"],
    ["PORT", "-1"],
    ["RATE_LIMIT_READ", "1.5"],
    ["OUTBOUND_ALLOW_PRIVATE", "yes"],
    ["DELIVERY_RETRY_DELAYS_MS", "10,,20"],
    ["SECRETS_KEK", "c2hvcnQ="],
    ["SECRETS_KEK", `${kek.toString("base64")},c2hvcnQ=`],
    ["SECRETS_KEK", `!${kek.toString("base64")}`],
    ["SECRETS_KEK", `${kek.toString("base64")},`],
    ["DATABASE_URL", "mysql://db/w"],
    ["DATABASE_URL", "db"],
    ["RUNS_GRPC_ADDR", "50052"],
    ["RUNS_GRPC_ADDR", "http://runs:50052"],
    ["TASK_RUNTIME", "temporal"],
    ["LOG_LEVEL", "verbose"],
    ["INTERNAL_TOKEN_PRIVATE_KEY", "hunter2"],
    ["INTERNAL_TOKEN_PRIVATE_KEY", base64Public],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", base64Public],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", `gateway=${base64Public},runs=x`],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", `gateway=${base64Public},`],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", `getaway=${base64Public}`],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", `gateway=${base64Pem}`],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", `gateway=${base64Rsa}`],
    ["GRPC_ALLOW_PLAINTEXT", "yes"],
  ])("wrongly are refused with what is expected: %s=%s", (name, text) => {
    expect(problems({ [name]: text })).toEqual([
      { setting: name, message: expect.stringMatching(/is not allowed; expected \w+/) },
    ]);
  });
});

describe("a ConfigError", () => {
  it("lists every problem at once", () => {
    const schema = everySetting.pick({ PORT: true, DATABASE_URL: true, LOG_LEVEL: true }).required({
      DATABASE_URL: true,
    });

    const error = configError(() =>
      parseConfig(schema, { PORT: "abc", LOG_LEVEL: "loud", RATE_LIMIT_RAED: "5" }),
    );

    expect(error.message).toBe(
      [
        "The configuration is not valid:",
        '  PORT: "abc" is not allowed; expected a whole number from 1 to 65535',
        "  DATABASE_URL: is required but not set",
        '  LOG_LEVEL: "loud" is not allowed; expected one of trace, debug, info, warn, error, fatal, silent',
        "  RATE_LIMIT_RAED: unknown setting; did you mean RATE_LIMIT_READ?",
      ].join("\n"),
    );
  });

  it.each<[SettingName, string]>([
    ["SECRETS_KEK", "hunter2"],
    ["INTERNAL_TOKEN_PRIVATE_KEY", "hunter2"],
    ["INTERNAL_TOKEN_PUBLIC_KEYS", "hunter2"],
    ["DATABASE_URL", "mysql://user:hunter2@db/w"],
    ["DATABASE_URL", "postgres//user:hunter2@db/w"],
    ["DATABASE_URL", "mysql://db/w?password=hunter2"],
    ["SMTP_URL", "ftp://user:hunter2@mail"],
    ["SMTP_URL", "smtp://user:a/hunter2@mail"],
    ["NATS_URL", "user:hunter2@host:4222"],
    ["PUBLIC_URL", "https//user:hunter2@host"],
  ])("does not show a value that may be secret: %s", (name, text) => {
    const error = configError(() => parseConfig(everySetting, { [name]: text }));

    expect(error.message).toContain(name);
    expect(error.message).not.toContain("hunter2");
  });
});

describe("unknown settings", () => {
  it.each([
    ["RATE_LIMIT_RAED", "RATE_LIMIT_READ"],
    ["DATABSE_URL", "DATABASE_URL"],
    ["NATS_URLS", "NATS_URL"],
    ["RESTATE_INGRES_URL", "RESTATE_INGRESS_URL"],
    ["STRIPE_WEBHOK_SECRET", "STRIPE_WEBHOOK_SECRET"],
    ["AIRWALEX_BASE_URL", "AIRWALLEX_BASE_URL"],
    ["OUTBOUND_ALLOW_PRIVAET", "OUTBOUND_ALLOW_PRIVATE"],
  ])("a slip away from a known one are refused: %s", (name, meant) => {
    expect(problems({ [name]: "1" })).toEqual([
      { setting: name, message: `unknown setting; did you mean ${meant}?` },
    ]);
  });

  it.each(["DELIVERY_TIMEOUT", "GRPC_TLS_VERSION", "WEBHOOKS_COLOUR", "RATE_LIMIT_ALL"])(
    "that begin like ours are refused: %s",
    (name) => {
      expect(problems({ [name]: "1" })).toEqual([{ setting: name, message: "unknown setting" }]);
    },
  );

  it("of others are none of our business", () => {
    const foreign: Environment = {
      HOME: "/root",
      HTTP_URL: "x",
      REDIS_URL: "x",
      PGDATA: "x",
      APP_BASE_URL: "x",
      npm_config_cache: "x",
      OPENAI_ORG_ID: "x",
      NANGO_HOSTPORT: "x",
      RESTATE_NODE_NAME: "x",
      RESTATE_CLUSTER_NAME: "x",
      GOOGLE_MAIL_BASE_URL: "https://x",
      HUBSPOT_CLIENT_ID: "x",
      RUNS_SERVICE_HOST: "10.0.0.1",
      RUNS_SERVICE_PORT: "50052",
      RUNS_SERVICE_PORT_GRPC: "50052",
      RUNS_PORT: "tcp://10.0.0.1:50052",
      RUNS_PORT_50052_TCP: "tcp://10.0.0.1:50052",
      RUNS_PORT_50052_TCP_ADDR: "10.0.0.1",
    };

    expect(problems(foreign)).toEqual([]);
  });
});

describe("settings of providers", () => {
  it("are read by the provider's id", () => {
    const settings = parseProviderSettings({
      GOOGLE_MAIL_BASE_URL: "http://127.0.0.1:9/mail/",
      HUBSPOT_CLIENT_ID: "id",
      HUBSPOT_CLIENT_SECRET: "secret",
    });

    expect([...settings]).toEqual([
      ["google-mail", { baseUrl: "http://127.0.0.1:9/mail" }],
      ["hubspot", { clientId: "id", clientSecret: "secret" }],
    ]);
  });

  it("wrongly set are refused by name", () => {
    const error = configError(() => parseProviderSettings({ AIRWALLEX_BASE_URL: "nowhere" }));

    expect(error.problems).toMatchObject([{ setting: "AIRWALLEX_BASE_URL" }]);
  });
});

describe("the table of settings", () => {
  it("has a row with a sentence for each", () => {
    const rows = settingsTable(SETTINGS).split("\n");

    for (const name of settingNames()) {
      const row = rows.find((line) => line.startsWith(`| \`${name}\` |`));
      expect(row).toMatch(/\| [A-Z][^|]+\. \|$/);
    }
    expect(rows).toContainEqual(expect.stringContaining("`<PROVIDER>_BASE_URL`"));
  });
});

function settingNames(): SettingName[] {
  const isName = (name: string): name is SettingName => Object.hasOwn(SETTINGS, name);
  return Object.keys(SETTINGS).filter(isName);
}

function problems(env: Environment) {
  try {
    parseConfig(everySetting, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function configError(parse: () => unknown): ConfigError {
  try {
    parse();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error("The configuration was accepted.");
}

describe("settings about browsers and proxies", () => {
  it.each([
    ["0", 0],
    ["10", 10],
    ["10.0.0.0/8, 192.0.2.7", ["10.0.0.0/8", "192.0.2.7/32"]],
    ["::1,2001:DB8::/32", ["::1/128", "2001:db8::/32"]],
    ["::ffff:10.0.0.0/104", ["10.0.0.0/8"]],
    ["loopback", ["127.0.0.0/8", "::1/128"]],
    [
      "Loopback, uniquelocal",
      ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
    ],
  ])("take proxies by number or network: %s", (text, expected) => {
    const config = parseConfig(everySetting.pick({ TRUSTED_PROXIES: true }), {
      TRUSTED_PROXIES: text,
    });
    expect(config.TRUSTED_PROXIES).toEqual(expected);
  });

  it.each([
    "11",
    "-1",
    "10.0.0.0/33",
    "0.0.0.0/0",
    "::/0",
    "proxy.example",
    "10.0.0.1,",
    "10.0.0.1;::1",
  ])("refuse proxies that are none: %s", (text) => {
    const parse = () =>
      parseConfig(everySetting.pick({ TRUSTED_PROXIES: true }), { TRUSTED_PROXIES: text });
    expect(parse).toThrow(/TRUSTED_PROXIES.*CIDR blocks/);
  });

  it("take origins exactly as browsers send them", () => {
    const origins = "https://app.example.com, http://localhost:3000";
    const config = parseConfig(everySetting.pick({ CORS_ORIGINS: true }), {
      CORS_ORIGINS: origins,
    });
    expect(config.CORS_ORIGINS).toEqual(["https://app.example.com", "http://localhost:3000"]);
  });

  it.each([
    "*",
    "null",
    "app.example.com",
    "https://app.example.com/",
    "https://App.example.com",
    "https://x:443",
    "https://*.example.com/x",
    "ftp://x",
  ])("refuse what is no origin: %s", (text) => {
    const parse = () =>
      parseConfig(everySetting.pick({ CORS_ORIGINS: true }), { CORS_ORIGINS: text });
    expect(parse).toThrow(/CORS_ORIGINS.*without a path/);
  });
});
