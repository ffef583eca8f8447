import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { WorkflowClient } from "@workflow/client";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** What `npm run cli:build` makes. */
const PROGRAM = join(HERE, "../../packages/cli/dist/workflowctl.js");
/** How workflowctl ends when somebody else has changed the workflow. */
const CHANGED_ELSEWHERE = 6;

/** A file of a definition, once it was pushed or pulled. */
interface DefinitionFile {
  id: string;
  name: string;
}

await runExample(
  "workflows:read,workflows:write,workflows:execute,runs:read",
  async ({ client, baseUrl, setting }) => {
    const apiKey = setting("API_KEY", "");
    // Asked first, so that a wrong address or key is told in one sentence.
    await client.workflows.list({ limit: 1 });
    const folder = await mkdtemp(join(tmpdir(), "workflow-gitops-"));
    try {
      await cp(join(HERE, "workflows"), join(folder, "workflows"), { recursive: true });
      await symlink(PROGRAM, join(folder, "workflowctl"));
      const commands = shellOf(folder, { baseUrl, apiKey });
      await tellStory(client, { commands, path: join(folder, "workflows/greeting.workflow.json") });
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

interface Repository {
  commands: Commands;
  path: string;
}

/** A change by git, one by somebody else, and how they come together. */
async function tellStory(client: WorkflowClient, { commands, path }: Repository): Promise<void> {
  console.log("1. The first deployment makes the workflow, and writes its id into the file.");
  commands.expect(0, "deploy.sh", "workflows");
  const { id } = await readJson<DefinitionFile>(pathToFileURL(path));
  try {
    await client.workflows.activate(id);
    await greet(client, id);
    console.log("\n2. A commit changes the file; the deployment shows the change and sends it.");
    await replaceIn(path, "Hello", "Good morning");
    commands.expect(0, "deploy.sh", "workflows");
    await greet(client, id);
    console.log("\n3. Somebody changes the workflow elsewhere; the next deployment is refused.");
    await client.workflows.update(id, { description: "Changed in the editor." });
    await replaceIn(path, "Good morning", "Good evening");
    commands.expect(CHANGED_ELSEWHERE, "deploy.sh", "workflows");
    console.log("\n4. The file is put back, the change is pulled, and the commit made again.");
    await replaceIn(path, "Good evening", "Good morning");
    commands.expect(0, "workflowctl", "workflows", "pull", id, "--dir", "workflows");
    await replaceIn(path, "Good morning", "Good evening");
    commands.expect(0, "deploy.sh", "workflows");
    await greet(client, id);
  } finally {
    await client.workflows.delete(id);
  }
}

interface Commands {
  /** Runs a command and prints what it says. Throws ExampleError when it ends with another code. */
  expect(exitCode: number, command: string, ...words: string[]): void;
}

/** Commands in a folder, with the service and the key in their environment, as in CI. */
function shellOf(cwd: string, { baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Commands {
  const env = {
    ...process.env,
    PATH: [cwd, HERE, process.env["PATH"]].join(delimiter),
    WORKFLOW_URL: new URL(baseUrl).origin,
    WORKFLOW_API_KEY: apiKey,
    NO_COLOR: "1",
  };
  return {
    expect(exitCode, command, ...words) {
      const options = { cwd, env, encoding: "utf8" } as const;
      const { status, stdout, stderr, error } = spawnSync(command, words, options);
      if (error !== undefined) throw new ExampleError(`${command}: ${error.message}`);
      console.log(`$ ${[command, ...words].join(" ")}\n${stdout}${stderr}`.trimEnd());
      if (status === exitCode) return;
      throw new ExampleError(`${command} has ended with ${status}; expected was ${exitCode}.`);
    },
  };
}

async function greet(client: WorkflowClient, id: string): Promise<void> {
  const { output } = await client.workflows.runAndWait(id, { input: { name: "Ada" } });
  console.log(`A run answers ${JSON.stringify(output)}`);
}

async function replaceIn(path: string, from: string, to: string): Promise<void> {
  await writeFile(path, (await readFile(path, "utf8")).replace(from, to));
}
