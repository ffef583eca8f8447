import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ServiceSchema } from "@workflow/db";
import { migrate } from "@workflow/db";
import { runAsAdmin, withDatabase } from "./admin.ts";

const SERVICES_FOLDER = join(import.meta.dirname, "../../../services");

/**
 * Creates the template of test databases, with the schemas of all services, and returns its name.
 */
export async function createTemplateDatabase(adminUri: string): Promise<string> {
  const name = `template_${randomBytes(6).toString("hex")}`;
  await runAsAdmin(adminUri, `create database ${name}`);
  await migrate({
    connectionUri: withDatabase(adminUri, name),
    services: await findServiceSchemas(),
  });
  return name;
}

/** Every service with migrations. Its schema has its name; its role is `workflow_<name>`. */
async function findServiceSchemas(): Promise<ServiceSchema[]> {
  const schemas: ServiceSchema[] = [];
  for (const name of (await readdir(SERVICES_FOLDER)).toSorted()) {
    const directory = join(SERVICES_FOLDER, name, "migrations");
    if (existsSync(directory)) schemas.push({ schema: name, role: `workflow_${name}`, directory });
  }
  return schemas;
}
