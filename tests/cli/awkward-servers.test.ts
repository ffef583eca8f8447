import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

const ID = "0199a5a0-0000-7000-8000-000000000001";
const failureSchema = z.object({
  error: z.looseObject({ code: z.string(), message: z.string(), hints: z.array(z.string()) }),
  exitCode: z.number(),
});

let cli: Cli;
let server: HttpDouble;
let reply: DoubleHandler;
beforeAll(async () => {
  cli = await buildCli({ WORKFLOW_API_KEY: "wfk_double" });
});
afterAll(() => cli?.close());
beforeEach(async () => {
  reply = () => ({});
  server = await startHttpDouble((request, response) => reply(request, response));
});
afterEach(() => server?.close());

const at = ({ url }: HttpDouble) => ({ env: { WORKFLOW_URL: url } });
const data = (value: unknown) => ({ body: { success: true, data: value } });

describe("mistakes on the command line", () => {
  test.each([
    [["runs", "list", "--nonsense"], "unknown option '--nonsense'"],
    [["nonsense"], "unknown command 'nonsense'"],
    [["workflows", "get"], "missing required argument 'workflow'"],
    [["runs"], "A command is missing."],
    [["runs", "list", "--after", "5"], "It must be a day"],
  ])("of %j are JSON for programs", async (args, message) => {
    const { code, stdout, stderr } = await cli.run([...args, "--json"], at(server));
    const told = failureSchema.parse(JSON.parse(stderr));
    expect({ code, stdout, exitCode: told.exitCode }).toEqual({ code: 2, stdout: "", exitCode: 2 });
    expect(told.error.message).toContain(message);
    expect(server.requests).toHaveLength(0);
  });

  test("of which one stands behind -- are words for people", async () => {
    const { stderr } = await cli.run(["workflows", "nonsense", "--", "--json"], at(server));
    expect(stderr).toContain("error: unknown command");
  });
});

describe("an answer that nobody understands", () => {
  test.each([[["workflows", "get", ID]], [["workflows", "get", ID, "--json"]]])(
    "ends %j with a code of its own, and without noise of the platform",
    async (args) => {
      reply = () => data(null);
      const { code, stdout, stderr } = await cli.run(args, at(server));
      expect({ code, stdout }).toEqual({ code: 70, stdout: "" });
      expect(stderr).toContain("workflowctl cannot go on");
      expect(stderr).not.toContain("Node.js v");
    },
  );
});

describe("a full disk behind standard output", () => {
  test("is told", async () => {
    reply = () => ({ body: { success: true, data: [], meta: { hasMore: false } } });
    const line = `WORKFLOW_URL=${server.url} workflowctl runs list --json > /dev/full`;
    const full = await cli.shell(line);
    expect(full).toMatchObject({ code: 8, stderr: expect.stringContaining("ENOSPC") });
    expect(full.stderr).not.toContain("Node.js v");
  });
});

describe("Ctrl-C", () => {
  test("says that nobody knows, when a change gets no answer", async () => {
    reply = () => new Promise(() => {});
    const started = cli.start(["workflows", "activate", ID], at(server));
    await waitFor(() => server.requests.length === 1);
    started.child.kill("SIGINT");
    const { code, stderr } = await started.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("after what is on its way");
    expect(stderr).toContain("look whether the change was made");
  });

  test("cancels no further runs, and says how many were", async () => {
    const held = Promise.withResolvers<void>();
    reply = async () => {
      await held.promise;
      return data({ id: "run_1", status: "cancelled" });
    };
    const started = cli.start(["runs", "cancel", "run_1", "run_2", "run_3"], at(server));
    await waitFor(() => server.requests.length === 1);
    started.child.kill("SIGINT");
    await waitFor(() => started.said.stderr.includes("on its way"));
    held.resolve();
    const { code, stdout, stderr } = await started.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: "run run_1 is cancelled\n" });
    expect(stderr).toContain("1 of 3 were cancelled");
    expect(server.requests).toHaveLength(1);
  });
});

describe("a push that does not come to its end", () => {
  async function folder(name: string): Promise<string> {
    const dir = join(cli.dir, name);
    await mkdir(dir);
    for (const one of ["a", "b", "c"]) {
      const file = { name: one, trigger: { type: "api" }, steps: [] };
      await writeFile(join(dir, `${one}.workflow.json`), JSON.stringify(file));
    }
    return dir;
  }

  const stored = (body: string, id: string) =>
    data({ ...JSON.parse(body), id, version: 1, status: "draft" });

  test("says how many were sent when it is interrupted, and sends no more", async () => {
    const dir = await folder("push-interrupted");
    const held = Promise.withResolvers<void>();
    reply = async ({ method, path, body }) => {
      if (method === "POST" && path.endsWith("/plan")) return data({ problems: [], missing: {} });
      await held.promise;
      return stored(body, ID);
    };
    const push = cli.start(["workflows", "push", "--dir", dir, "--yes", "--json"], at(server));
    await waitFor(() => server.requests.length === 1);
    push.child.kill("SIGTERM");
    await waitFor(() => push.said.stderr.includes("on its way"));
    held.resolve();
    const { code, stderr } = await push.ended;
    const told = failureSchema.parse(JSON.parse(stderr.slice(stderr.indexOf("{"))));
    expect(code).toBe(130);
    expect(told.error.hints).toContainEqual(expect.stringContaining("1 of 3 were sent"));
    expect(told.error["details"]).toMatchObject({ done: [{ id: ID }] });
    expect(await readFile(join(dir, "a.workflow.json"), "utf8")).toContain(ID);
    expect(server.requests.filter(({ path }) => path.endsWith("/workflows"))).toHaveLength(1);
  });

  test("says that the server may have what got no answer", async () => {
    const dir = await folder("push-lost");
    reply = (_, response) => void response.destroy();
    const push = await cli.run(["workflows", "push", "--dir", dir, "--yes"], at(server));
    expect(push.code).toBe(3);
    expect(push.stderr).toContain("the server may have it");
    expect(push.stderr).toContain("0 of 3 were sent");
  });
});

describe("a session whose server is gone", () => {
  test("is forgotten all the same, and the command says that it goes on", async () => {
    const path = cli.configFile;
    await mkdir(join(path, ".."), { recursive: true });
    const session = { cookie: "wfs_session=x", email: "a@b.c", company: "C", expiresAt: "2027" };
    const profiles = { old: { url: server.url, session } };
    await writeFile(path, JSON.stringify({ current: "old", profiles }));
    await server.close();
    const left = await cli.run(["logout"]);
    expect(left).toMatchObject({ code: 3, stderr: expect.stringContaining("its session goes on") });
    expect(await cli.json(z.array(z.unknown()), ["profiles", "list"])).toEqual([]);
  });

  test.each(["constructor", "__proto__", "toString"])(
    "is not made up for a profile called %s",
    async (name) => {
      const nobody = { env: { WORKFLOW_API_KEY: "" } };
      expect(await cli.run(["--profile", name, "whoami"], nobody)).toMatchObject({ code: 4 });
      expect(await cli.run(["--profile", name, "logout"], nobody)).toMatchObject({ code: 2 });
      expect(await cli.run(["profiles", "use", name], nobody)).toMatchObject({ code: 2 });
    },
  );
});

describe("dev", () => {
  test("tries again when the server is back, and tells once that it was away", async () => {
    const dir = join(cli.dir, "dev-away");
    await mkdir(dir);
    const file = { name: "Away", trigger: { type: "api" }, steps: [] };
    let isAway = true;
    reply = ({ method }) => {
      if (isAway) return { status: 503, body: { success: false, error: { message: "Away" } } };
      if (method === "POST") isAway = false;
      return data({ ...file, id: ID, version: 1, status: "draft", problems: [], missing: {} });
    };
    const path = join(dir, "a.workflow.json");
    await writeFile(path, JSON.stringify(file));
    const dev = cli.start(["dev", dir], at(server));
    await waitFor(() => dev.said.stdout.includes("tried again"));
    await appendFile(path, "\n");
    await waitFor(() => server.requests.length >= 2);
    isAway = false;
    await waitFor(() => dev.said.stdout.includes(`created  ${path}`), { what: "a draft" });
    dev.child.kill("SIGINT");
    const { code, stdout } = await dev.ended;
    expect({ code, times: stdout.split("failed  ").length - 1 }).toEqual({ code: 0, times: 1 });
  });
});

describe("WORKFLOW_WEBHOOK_SECRET", () => {
  test.each(["whsec_short", "not base64 at all", `${"A".repeat(43)}=`])(
    "%j is refused before anything is asked",
    async (secret) => {
      const args = ["webhooks", "listen", "--endpoint", "whe_1", "--forward", server.url];
      const env = { WORKFLOW_URL: server.url, WORKFLOW_WEBHOOK_SECRET: secret };
      const { code, stderr } = await cli.run(args, { env });
      expect({ code, shows: stderr.includes(secret) }).toEqual({ code: 2, shows: false });
      expect(stderr).toContain("WORKFLOW_WEBHOOK_SECRET");
      expect(server.requests).toHaveLength(0);
    },
  );
});
