import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { getWorkflow, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli, Started } from "./support/command.ts";

let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  system = await startWholeSystem();
  cli = await buildCli({ WORKFLOW_URL: system.origin, WORKFLOW_API_KEY: system.acme.key });
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});

const fileSchema = z.looseObject({ id: z.string() });

const definition = (text: string): string =>
  JSON.stringify({ name: "Dev", trigger: { type: "api" }, steps: [transform("a", { text })] });

async function says({ said }: Started, text: string): Promise<void> {
  await waitFor(() => said.stdout.includes(text), { what: `dev to say ${text}` });
}

test("dev creates and updates drafts, waits for half-written files, and leaves the active alone", async () => {
  const dir = join(cli.dir, "dev");
  await mkdir(dir);
  const path = join(dir, "one.workflow.json");
  await writeFile(path, definition("{{secrets.MISSING}}"));
  const dev = cli.start(["dev", dir]);
  await says(dev, `created  ${path}`);
  await says(dev, "not ready: missing secrets: MISSING");
  const whole = await readFile(path, "utf8");
  const { id } = fileSchema.parse(JSON.parse(whole));
  await writeFile(path, whole.slice(0, whole.length / 2));
  await says(dev, "only half of it");
  await writeFile(path, whole.replace("{{secrets.MISSING}}", "Hello"));
  await says(dev, `updated  ${path}`);
  expect(JSON.stringify(await getWorkflow(system, id))).toContain("Hello");
  await system.call("PUT", `/workflows/${id}`, { body: { description: "Theirs" } });
  await writeFile(path, (await readFile(path, "utf8")).replace("Hello", "Mine"));
  await says(dev, `conflict  ${path}`);
  expect(await getWorkflow(system, id)).toMatchObject({ description: "Theirs" });
  await cli.run(["workflows", "pull", id, "--dir", dir, "--force"]);
  await says(dev, `in step  ${path}`);
  const copy = join(dir, "two.workflow.json");
  await writeFile(copy, (await readFile(path, "utf8")).replace("Hello", "Of the copy"));
  await says(dev, "have the same id");
  await rm(copy);
  expect(JSON.stringify(await getWorkflow(system, id))).not.toContain("Of the copy");
  await system.call("POST", `/workflows/${id}/activate`);
  await writeFile(path, (await readFile(path, "utf8")).replace("Hello", "Too late"));
  await says(dev, `left alone  ${path}`);
  expect(JSON.stringify(await getWorkflow(system, id))).not.toContain("Too late");
  dev.child.kill("SIGINT");
  expect(await dev.ended).toMatchObject({ code: 0 });
  const { data } = await system.call("GET", "/workflows");
  expect(data).toHaveLength(1);
});
