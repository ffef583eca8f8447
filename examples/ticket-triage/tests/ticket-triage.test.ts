import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startOpenAiDouble } from "@workflow/testkit";
import type { AskedModel, ModelDouble } from "@workflow/testkit";
import {
  cleanUp,
  launch,
  printedKey,
  startSystem,
  temporaryFolder,
  testSettings,
} from "../../../deploy/dev/tests/support/system.ts";
import type { StartedSystem } from "../../../deploy/dev/tests/support/system.ts";

const EXAMPLE = join(import.meta.dirname, "../run.ts");

let openai: ModelDouble;
let system: StartedSystem;

beforeAll(async () => {
  openai = await startOpenAiDouble();
  const settings = await testSettings(await temporaryFolder());
  system = await startSystem({
    ...settings,
    OPENAI_API_KEY: openai.key,
    OPENAI_BASE_URL: openai.baseUrl,
  });
});
beforeEach(() => {
  openai.asked.length = 0;
  openai.reply = sort;
});
afterAll(async () => {
  await cleanUp();
  await openai.close();
});

/** As a model would that has understood the prompt. */
function sort({ messages }: AskedModel): string {
  const text = messages.map((message) => message.text).join("");
  const answer = (team: string, urgent: boolean): string =>
    JSON.stringify({ team, urgent, why: `It is about ${team}.` });
  if (text.includes("took back the payment")) return answer("fraud", true);
  return text.includes("answers 500") ? answer("technical", true) : answer("billing", false);
}

function runExample(apiKey: string) {
  return launch([EXAMPLE], { API_KEY: apiKey, BASE_URL: system.baseUrl }).ended;
}

describe("the ticket triage example", () => {
  it("judges the prompt, runs the workflow, and does so again with the next version", async () => {
    const apiKey = printedKey(system.stdout());
    const versions: number[] = [];
    for (const attempt of ["first", "second"]) {
      const { exitCode, stdout, stderr } = await runExample(apiKey);
      expect({ attempt, exitCode, stderr }).toEqual({ attempt, exitCode: 0, stderr: "" });
      versions.push(Number(/^Agent .*, version (\d+), asks /m.exec(stdout)?.[1]));
      expect(stdout.match(/^passed {2}/gm)).toHaveLength(4);
      expect(stdout).toContain("4 of 4 cases passed");
      const output: unknown = JSON.parse(stdout.slice(stdout.indexOf("\n{")));
      expect(output).toMatchObject({
        team: "technical",
        call: { to: "on-call of technical", text: expect.stringContaining("answers 500") },
      });
    }
    expect(versions[1]).toBe((versions[0] ?? 0) + 1);
    expect(openai.asked).toHaveLength(10);
  });

  it("says which cases fail, and why", async () => {
    openai.reply = () => '{"team":"billing","urgent":true,"why":"Who knows."}';
    const { exitCode, stdout } = await runExample(printedKey(system.stdout()));
    expect(exitCode).toBe(1);
    expect(stdout).toContain("FAILED  a chargeback is for fraud: The expression gives false");
    expect(stdout).toContain("FAILED  a question about an invoice can: output.urgent must be");
    expect(stdout).toContain("0 of 4 cases passed");
  });
});
