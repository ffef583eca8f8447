import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { differencesOf, JOURNEYS, readQuickstart, stepsOf } from "./support/quickstart-page.ts";
import type { Journey } from "./support/quickstart-page.ts";
import {
  cleanUp,
  launchProgram,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { StartedSystem, TestSettings } from "./support/system.ts";

/* docs/quickstart.md: each of its blocks is executed, and answers what the page shows. */

const MARK = "=== end of a block ===";
const BLOCKS = readQuickstart();
const START = "npm start";
const EXPORTS = ["export API_KEY=wfk_…", "export COMPANY_ID=…"].join("\n");

/** Python is not on every machine; what is not there is named, not taken for good. */
const FOUND = JOURNEYS.filter(
  ({ command, versionArgs }) => spawnSync(command, versionArgs).status === 0,
);
const ABSENT = JOURNEYS.filter((journey) => !FOUND.includes(journey)).map(({ command }) => command);
const notRun = ABSENT.length === 0 ? "" : ` (not on this machine: ${ABSENT.join(", ")})`;

let folder: string;
let settings: TestSettings;
let system: StartedSystem;

beforeAll(async () => {
  folder = await temporaryFolder();
  settings = await testSettings(join(folder, "data"));
  // What `npm start` runs, on ports that are free here.
  system = await startSystem(settings);
});
afterAll(cleanUp);

describe("the quickstart", () => {
  it("starts the system, takes over what it prints, and says all else in each language", () => {
    const [start, exports] = BLOCKS;
    expect([start?.code, exports?.code]).toEqual([START, EXPORTS]);
    expect(system.stdout()).toMatch(/API key.*wfk_/);
    const [shell, ...others] = JOURNEYS.map(({ language }) =>
      stepsOf(BLOCKS, language)
        .map(({ shown }) => shown)
        .slice(language === "sh" ? 2 : 0),
    );
    expect(shell?.filter((shown) => shown !== undefined)).toHaveLength(5);
    for (const other of others) expect(other).toEqual(shell);
    const languages = new Set(BLOCKS.map(({ language }) => language));
    expect(languages).toEqual(new Set([...JOURNEYS.map(({ language }) => language), "json"]));
  });

  it("finds the shell and Node here", () => {
    expect(FOUND.map(({ language }) => language)).toEqual(expect.arrayContaining(["sh", "ts"]));
  });

  it.each(FOUND.map((journey) => [journey.language, journey] as const))(
    `answers in %s what the page shows, block by block${notRun}`,
    async (_language, journey) => {
      const steps = stepsOf(BLOCKS, journey.language).filter(({ code }) => code !== START);
      const printed = await follow(
        journey,
        steps.map(({ code }) => code),
      );
      const told = steps.map(({ code, shown }, at) => {
        const text = printed[at] ?? "";
        if (shown === undefined) return { code, text, differences: [] };
        return { code, text, differences: differencesOf(JSON.parse(shown), JSON.parse(text)) };
      });
      expect(told.filter(({ differences }) => differences.length > 0)).toEqual([]);
      // What shows no answer prints none.
      const silent = steps.map(({ shown }, at) => shown === undefined && printed[at] !== "");
      expect(silent).not.toContain(true);
    },
  );
});

/** Executes blocks one after the other, in a company of their own, and tells what each has printed. */
async function follow(journey: Journey, blocks: readonly string[]): Promise<string[]> {
  const { language, command, file, printMark } = journey;
  const { stdout } = await runAdmin(
    settings,
    `create-company --name ${language} --email ${language}@quickstart.example --password-stdin --json`,
    "a long password\n",
  );
  const { apiKey, companyId }: Record<string, string> = JSON.parse(stdout);
  const program = blocks
    .flatMap((code) => [code, printMark(MARK)])
    .join("\n")
    .replaceAll("http://localhost:8080", new URL(system.baseUrl).origin)
    .replace("wfk_…", String(apiKey))
    .replace("COMPANY_ID=…", `COMPANY_ID=${companyId}`);
  const path = join(folder, file);
  await writeFile(path, program);
  const environment = { API_KEY: String(apiKey), COMPANY_ID: String(companyId) };
  const outcome = await launchProgram(command, [path], environment).ended;
  expect(outcome).toMatchObject({ exitCode: 0, stderr: "" });
  return outcome.stdout
    .split(MARK)
    .slice(0, -1)
    .map((text) => text.trim());
}
