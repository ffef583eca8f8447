import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "@workflow/db";
import type { AppliedMigration, ServiceSchema } from "@workflow/db";

const SERVICES_FOLDER = join(import.meta.dirname, "../../../services");

/** Migrates the schemas of all services and returns what was applied. */
export async function migrateAll(connectionUri: string): Promise<AppliedMigration[]> {
  return migrate({ connectionUri, services: await findServiceSchemas() });
}

/** Every service with migrations. Its schema has its name; its role is `workflow_<name>`. */
export async function findServiceSchemas(): Promise<ServiceSchema[]> {
  const schemas: ServiceSchema[] = [];
  for (const name of (await readdir(SERVICES_FOLDER)).toSorted()) {
    const directory = join(SERVICES_FOLDER, name, "migrations");
    if (existsSync(directory)) schemas.push({ schema: name, role: `workflow_${name}`, directory });
  }
  return schemas;
}
