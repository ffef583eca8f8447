import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pathToFileURL } from "node:url";
import { z } from "zod";

/*
 * node deploy/kubernetes/schemas/renew.ts: makes the JSON Schemas of the kinds that the manifests use, out
 * of what the Kubernetes project's own client for Node knows of the API of each version.
 */

/** The newest release of the client for each version of the API that it has been made for. */
const CLIENTS = { "1.33": "1.3.0", "1.34": "1.4.0", "1.36": "2.0.1" } as const;
const KINDS = {
  "v1 ConfigMap": "V1ConfigMap",
  "v1 Namespace": "V1Namespace",
  "v1 Pod": "V1Pod",
  "v1 Service": "V1Service",
  "apps/v1 Deployment": "V1Deployment",
  "apps/v1 StatefulSet": "V1StatefulSet",
  "autoscaling/v2 HorizontalPodAutoscaler": "V2HorizontalPodAutoscaler",
  "batch/v1 Job": "V1Job",
  "networking.k8s.io/v1 Ingress": "V1Ingress",
  "networking.k8s.io/v1 NetworkPolicy": "V1NetworkPolicy",
  "policy/v1 PodDisruptionBudget": "V1PodDisruptionBudget",
} as const;

const attributes = z.array(
  z.object({ name: z.string(), baseName: z.string(), type: z.string(), format: z.string() }),
);
type Attribute = z.output<typeof attributes>[number];
type Schema = Record<string, unknown>;

for (const [version, client] of Object.entries(CLIENTS)) await renew(version, client);

async function renew(version: string, client: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "kubernetes-client-"));
  const source = `@kubernetes/client-node@${client}`;
  const run = promisify(execFile);
  await run("npm", ["pack", "--silent", source], { cwd: folder });
  await run("tar", ["xzf", `kubernetes-client-node-${client}.tgz`], { cwd: folder });
  const models = join(folder, "package/dist/gen/models");
  const definitions: Record<string, Schema> = {};
  const names = new Set<string>(Object.values(KINDS));
  // A set hands out what is added while it is walked through.
  for (const name of names) {
    definitions[name] = await definitionOf(models, name, (used) => names.add(used));
  }
  await rm(folder, { recursive: true });
  const lines = Object.entries(definitions)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `  ${JSON.stringify(name)}: ${JSON.stringify(schema)}`);
  const head = JSON.stringify({ version, source, kinds: KINDS }).slice(0, -1);
  const text = `${head},"definitions":{\n${lines.join(",\n")}\n}}\n`;
  await writeFile(new URL(`${version}.json`, import.meta.url), text);
}

/** Members that no version knows are refused, as the server does with `--validate=strict`. */
async function definitionOf(
  models: string,
  name: string,
  use: (name: string) => void,
): Promise<Schema> {
  const module: unknown = await import(pathToFileURL(join(models, `${name}.js`)).href);
  const model: unknown = Reflect.get(Object(module), name);
  const members = attributes.parse(Reflect.get(Object(model), "attributeTypeMap"));
  const declaration = await readFile(join(models, `${name}.d.ts`), "utf8");
  // Optional ones have a question mark: 'name'?: string;
  const required = members.filter((member) => declaration.includes(`'${member.name}':`));
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map((member) => [member.baseName, schemaOf(member.type, member, use)]),
    ),
    required: required.map(({ baseName }) => baseName),
    additionalProperties: false,
  };
}

function schemaOf(type: string, member: Attribute, use: (name: string) => void): Schema {
  const [, items] = /^(?:Array|Set)<(.+)>$/.exec(type) ?? [];
  if (items !== undefined) return { type: "array", items: schemaOf(items, member, use) };
  const [, values] = /^\{ \[key: string\]: (.+); \}$/.exec(type) ?? [];
  if (values !== undefined) {
    return { type: "object", additionalProperties: schemaOf(values, member, use) };
  }
  switch (type) {
    case "string":
    case "boolean":
      return { type };
    case "number":
      return { type: member.format.startsWith("int") ? "integer" : "number" };
    case "Date":
    case "V1MicroTime":
      return { type: "string" };
    case "IntOrString":
      return { type: ["integer", "string"] };
    case "any":
    case "object":
      return {};
    default:
      use(type);
      return { $ref: `#/definitions/${type}` };
  }
}
