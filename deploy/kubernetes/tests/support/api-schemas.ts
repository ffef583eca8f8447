import { readdir, readFile } from "node:fs/promises";
import { Ajv } from "ajv";
import { z } from "zod";
import type { Manifest } from "./kustomize.ts";

const schemaFile = z.object({
  version: z.string(),
  kinds: z.record(z.string(), z.string()),
  definitions: z.record(z.string(), z.unknown()),
});

/** What one version of the Kubernetes API knows of the kinds in use. */
export type ApiSchemas = z.output<typeof schemaFile>;

/** The API of each version that manifests are checked with. */
export async function readApiSchemas(): Promise<ApiSchemas[]> {
  const folder = new URL("../../schemas/", import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  return Promise.all(
    files.map(async (name) =>
      schemaFile.parse(JSON.parse(await readFile(new URL(name, folder), "utf8"))),
    ),
  );
}

/** What of the manifests a version of the API does not take, unknown members included; empty when nothing. */
export function problemsOf(
  manifests: readonly Manifest[],
  { kinds, definitions }: ApiSchemas,
): unknown[] {
  const ajv = new Ajv({
    allErrors: true,
    strictTypes: false,
    schemas: [{ $id: "kubernetes", definitions }],
  });
  return manifests.flatMap((manifest) => {
    const definition = kinds[`${manifest.apiVersion} ${manifest.kind}`];
    const isValid =
      definition !== undefined && ajv.validate(`kubernetes#/definitions/${definition}`, manifest);
    return isValid ? [] : [[manifest.kind, manifest.metadata.name, definition, ajv.errors]];
  });
}
