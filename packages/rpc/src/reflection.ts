import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Server } from "@grpc/grpc-js";
import { load } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";

/**
 * Adds server reflection for some services. A service's package gives the path of its `.proto` files below
 * the root: `workflow/runs/v1` for `workflow.runs.v1.RunsService`.
 */
export async function addReflection(
  server: Server,
  protoRoot: string,
  services: readonly string[],
): Promise<void> {
  const folders = new Set(services.map((name) => dirname(name.replaceAll(".", "/"))));
  const files = await Promise.all([...folders].map((folder) => protoFiles(protoRoot, folder)));
  const definition = await load(files.flat(), { includeDirs: [protoRoot], keepCase: true });
  new ReflectionService(definition, { services: [...services] }).addToServer(server);
}

async function protoFiles(protoRoot: string, folder: string): Promise<string[]> {
  const names = await readdir(join(protoRoot, folder));
  return names.filter((name) => name.endsWith(".proto")).map((name) => join(folder, name));
}
