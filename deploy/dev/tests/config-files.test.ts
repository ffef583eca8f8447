import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ConfigError,
  parseConfig,
  parseProviderSettings,
  serviceSettings,
} from "@workflow/service";
import type { Environment } from "@workflow/service";
import { SETTINGS } from "../src/setting-catalogue.ts";

const everySetting = serviceSettings(SETTINGS);

describe("settings in files", () => {
  const schema = everySetting.pick({ DATABASE_URL: true, SECRETS_KEK: true, PORT: true }).required({
    SECRETS_KEK: true,
  });
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "settings-"));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function fileWith(text: string): Promise<string> {
    const file = join(folder, randomUUID());
    await writeFile(file, text);
    return file;
  }

  it("are read from the files that <NAME>_FILE names, without the end of their last line", async () => {
    const kek = Buffer.alloc(32, 7);
    const config = parseConfig(schema, {
      DATABASE_URL_FILE: await fileWith("postgres://u:p@h/d\n"),
      SECRETS_KEK_FILE: await fileWith(`${kek.toString("base64")}\r\n`),
    });
    expect(config).toMatchObject({ DATABASE_URL: "postgres://u:p@h/d", SECRETS_KEK: [kek] });
    const providers = parseProviderSettings({
      STRIPE_CLIENT_SECRET_FILE: await fileWith("sk_1\n"),
    });
    expect(providers.get("stripe")).toEqual({ clientSecret: "sk_1" });
  });

  it("are refused by the name of the variable when the file cannot be read or says nothing", async () => {
    const missing = join(folder, "missing");
    const empty = await fileWith(" \n");
    expect(problemsOf({ DATABASE_URL_FILE: missing, SECRETS_KEK_FILE: empty })).toEqual([
      {
        setting: "DATABASE_URL_FILE",
        message: `${JSON.stringify(missing)} cannot be read (ENOENT)`,
      },
      { setting: "SECRETS_KEK_FILE", message: `${JSON.stringify(empty)} is empty` },
    ]);
  });

  it("are refused beside the setting itself, and a bad value in one is not shown", async () => {
    const file = await fileWith("secret-and-wrong");
    expect(problemsOf({ SECRETS_KEK_FILE: file, PORT: "80", PORT_FILE: file })).toEqual([
      { setting: "PORT_FILE", message: "is set beside PORT; give one of them" },
      { setting: "SECRETS_KEK", message: expect.stringContaining("(not shown)") },
    ]);
  });

  it("are found when they are misspelt, and are no matter of services that do not read them", () => {
    expect(problemsOf({ SECRETS_KEK: kekText, DATABASE_URI_FILE: "/x" })).toEqual([
      {
        setting: "DATABASE_URI_FILE",
        message: "unknown setting; did you mean DATABASE_URL_FILE?",
      },
    ]);
    expect(parseConfig(schema, { SECRETS_KEK: kekText, NATS_URL_FILE: "/nowhere" }).PORT).toBe(
      8080,
    );
  });

  const kekText = Buffer.alloc(32, 7).toString("base64");

  function problemsOf(env: Environment) {
    try {
      parseConfig(schema, env);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems;
    }
  }
});
