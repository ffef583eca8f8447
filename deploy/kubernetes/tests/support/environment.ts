import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { only } from "./kustomize.ts";
import type { Manifest } from "./kustomize.ts";
import type { Container, Pod } from "./pods.ts";

const SCRIPT = fileURLToPath(new URL("../../make-secrets.sh", import.meta.url));
const configMapReference = z.object({ configMapRef: z.object({ name: z.string() }) });
const configMap = z.object({ data: z.record(z.string(), z.string()) });

/** The secrets of an installation, as folders of files. */
export interface Secrets {
  folder: string;
  remove(): Promise<void>;
}

/** Makes the secrets as the README says. */
export async function makeSecrets(): Promise<Secrets> {
  const parent = await mkdtemp(join(tmpdir(), "secrets-"));
  const made = join(parent, "made");
  await promisify(execFile)("sh", [SCRIPT, made]);
  return { folder: join(made, "cluster"), remove: () => rm(parent, { recursive: true }) };
}

/** What a container finds in its environment, with paths into the made secrets for mounted ones. */
export function environmentOf(
  manifests: readonly Manifest[],
  { spec }: Pod,
  { env, envFrom, volumeMounts }: Container,
  secrets: Secrets,
): Record<string, string> {
  const shared = envFrom.map((source) => {
    const { name } = configMapReference.parse(source).configMapRef;
    return configMap.parse(only(manifests, "ConfigMap", name)).data;
  });
  const given: Record<string, string> = Object.assign({}, ...shared);
  for (const { name, value } of env) given[name] = value;
  for (const { name: volume, mountPath } of volumeMounts) {
    const secret = spec.volumes.find(({ name }) => name === volume)?.secret?.secretName;
    if (secret === undefined) continue;
    for (const [name, value] of Object.entries(given)) {
      if (!value.startsWith(`${mountPath}/`)) continue;
      given[name] = join(secrets.folder, secret, value.slice(mountPath.length + 1));
    }
  }
  return given;
}
