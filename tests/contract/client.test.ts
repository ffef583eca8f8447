import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import * as client from "@workflow/client";
import { z } from "zod";

const PACKAGE = join(import.meta.dirname, "../../packages/client");
const DOCUMENT = join(import.meta.dirname, "../../services/gateway/openapi.json");
const COMMITTED = join(PACKAGE, "src/generated");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "workflow-client-"));
});
afterAll(() => rm(folder, { recursive: true }));

it("the client is made from the description as it is now; `npm run client:generate` renews it", async () => {
  await promisify(execFile)(process.execPath, [join(PACKAGE, "generate/generate.ts"), folder]);
  const names = await readdir(folder);
  expect(names.toSorted()).toEqual((await readdir(COMMITTED)).toSorted());
  const stale: string[] = [];
  for (const name of names) {
    const [made, committed] = await Promise.all(
      [folder, COMMITTED].map((parent) => readFile(join(parent, name), "utf8")),
    );
    if (made !== committed) stale.push(name);
  }
  expect(stale).toEqual([]);
});

const operations = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.union([z.object({ operationId: z.string() }), z.array(z.unknown())])),
  ),
});

it("every operation of the API is a function of the client, but for the return from a provider's page", async () => {
  const { paths } = operations.parse(JSON.parse(await readFile(DOCUMENT, "utf8")));
  const named = Object.values(paths)
    // Paths with servers of their own are not below the API.
    .filter((item) => !("servers" in item))
    .flatMap((item) => Object.values(item))
    .flatMap((operation) => ("operationId" in operation ? [operation.operationId] : []));
  const functions: Readonly<Record<string, unknown>> = { ...client };
  const missing = named.filter((name) => typeof functions[name] !== "function");
  expect(named.length).toBeGreaterThan(100);
  expect(missing).toEqual(["authorizationCallback"]);
});
