import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { withoutEffect, withoutEffectOfProviders } from "@workflow/service";
import { SETTINGS } from "../../deploy/dev/src/setting-catalogue.ts";
import { partOf } from "../../deploy/dev/src/topology.ts";
import type { PartName } from "../../deploy/dev/src/topology.ts";

const ROOT = join(import.meta.dirname, "../..");
const SERVICES = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"] as const;
const DECLARATIONS = [
  "packages/service/src/settings.ts",
  ...SERVICES.map((service) => `services/${service}/src/settings.ts`),
];
const NAMES = Object.keys(SETTINGS);
/**
 * npm start runs both halves of runs, and says so when it is asked for one (see its tests); it is one process,
 * which nobody takes the place of while it stops.
 */
const NOT_FOR_NPM_START = ["STOP_DELAY_MS", "RUNS_ROLE"];

/** Beside npm start: the list of parts that run apart. */
const OF_SEPARATE_PARTS = ["deploy/dev/src/topology.ts"];

/** The functions of packages/service that read settings, and their files. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  runService: ["/run-service.ts", "/operations.ts", "/tracing.ts"],
  traceSettings: ["/tracing.ts"],
};

/** What services read of settings wherever they run: npm start takes their options from it. */
const CONFIGURED = [
  ...SERVICES.map((service) => `services/${service}/src/configured-options.ts`),
  "services/integrations/src/agents/models/model-settings.ts",
];

/** A file without what only mentions settings: comments, texts, and lists of what is required. */
interface Source {
  file: string;
  code: string;
}

/** A part that runs each service; both parts of runs have the same settings. */
const PARTS_OF: Readonly<Record<(typeof SERVICES)[number], PartName>> = {
  gateway: "gateway",
  workflows: "workflows",
  runs: "runs-api",
  tables: "tables",
  integrations: "integrations",
  webhooks: "webhooks",
};

const sources = new Map<string, Source[]>();

beforeAll(async () => {
  const packages = (await readdir(join(ROOT, "packages"))).map((name) => `packages/${name}`);
  const folders = [...SERVICES.map((name) => `services/${name}`), ...packages, "deploy/dev"];
  for (const folder of folders) sources.set(folder, await readSources(folder));
});

describe("a setting", () => {
  it("is marked as one without effect exactly when no code reads it", () => {
    const everything = [...sources.values()].flat();
    // A search that finds nothing would agree with marks on everything.
    expect(readIn(everything).length).toBeGreaterThan(20);
    expect(NAMES.filter((name) => isMarked(name))).toEqual(
      NAMES.filter((name) => !readIn(everything).includes(name)),
    );
  });

  it.each(SERVICES)("that a service picks is read by it: %s", (service) => {
    const own = sources.get(`services/${service}`) ?? [];
    const picked = partOf(PARTS_OF[service]).settings;
    const read = [...readIn(own), ...readFor(own)];
    expect(picked.length).toBeGreaterThan(4);
    expect(picked.filter((name) => !read.includes(name))).toEqual([]);
  });

  it("that has an effect has it on npm start as well", () => {
    const files = sources.get("deploy/dev") ?? [];
    const configured = [...sources.values()].flat().filter(({ file }) => CONFIGURED.includes(file));
    expect(configured).toHaveLength(CONFIGURED.length);
    const own = [
      ...readIn(files.filter(({ file }) => !OF_SEPARATE_PARTS.includes(file))),
      ...readIn(configured),
      ...readFor(files),
    ];
    const missing = NAMES.filter((name) => !isMarked(name) && !own.includes(name));
    expect(missing).toEqual(NOT_FOR_NPM_START);
  });

  it.each([
    ["BASE_URL", "baseUrl"],
    ["CLIENT_ID", "clientId"],
    ["CLIENT_SECRET", "clientSecret"],
  ] as const)("of a provider is marked exactly when nobody reads it: %s", (key, member) => {
    const readers = [...sources.values()]
      .flat()
      .filter(({ file }) => !file.startsWith("packages/"))
      .filter(({ code }) => /\bProviderSettings\b/.test(code))
      .filter(({ code }) => new RegExp(`\\b${member}\\b`).test(code));
    expect(withoutEffectOfProviders(key) !== undefined).toBe(readers.length === 0);
  });
});

/** What some code has a package read for it. */
function readFor(own: readonly Source[]): string[] {
  const called = own.flatMap(
    ({ code }) => code.match(/\b(?:runService|traceSettings)(?=\()/g) ?? [],
  );
  const files = sources.get("packages/service") ?? [];
  const readers = called.flatMap((name) => READERS[name] ?? []);
  return readIn(files.filter(({ file }) => readers.some((reader) => file.endsWith(reader))));
}

function isMarked(name: string): boolean {
  const setting = SETTINGS_BY_NAME.get(name);
  return setting !== undefined && withoutEffect(setting) !== undefined;
}

const SETTINGS_BY_NAME = new Map(Object.entries(SETTINGS));

/** The settings that some code reads: `config.PORT`, or `const { PORT: port } = config`. */
function readIn(files: readonly Source[]): string[] {
  const words = new Set(files.flatMap(({ code }) => code.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []));
  return NAMES.filter((name) => words.has(name));
}

async function readSources(folder: string): Promise<Source[]> {
  const files = await readdir(join(ROOT, folder, "src"), { recursive: true }).catch(() => []);
  const found = files
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, "src", file))
    .filter((file) => !DECLARATIONS.includes(file));
  return Promise.all(
    found.map(async (file) => {
      const text = await readFile(join(ROOT, file), "utf8");
      const code = text
        .replaceAll(/\/\*[\s\S]*?\*\//g, "")
        .replaceAll(/(?<![:"])\/\/.*$/gm, "")
        .replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
        .replaceAll(/\b[A-Z0-9_]+: true\b/g, "");
      return { file, code };
    }),
  );
}
