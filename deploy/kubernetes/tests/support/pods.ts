import { z } from "zod";
import type { Manifest } from "./kustomize.ts";

const port = z.union([z.number(), z.string()]);
const probe = z.looseObject({
  httpGet: z.object({ path: z.string(), port }).optional(),
  grpc: z.object({ port: z.number(), service: z.string().optional() }).optional(),
});
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(z.unknown()).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  securityContext: z.unknown(),
  resources: z.object({
    requests: z.record(z.string(), z.string()),
    limits: z.record(z.string(), z.string()),
  }),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  lifecycle: z
    .object({ preStop: z.object({ sleep: z.object({ seconds: z.number() }) }) })
    .optional(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
});
const podSchema = z.looseObject({
  containers: z.array(containerSchema),
  initContainers: z.array(containerSchema).default([]),
  terminationGracePeriodSeconds: z.number().optional(),
  topologySpreadConstraints: z.array(z.looseObject({ topologyKey: z.string() })).default([]),
  volumes: z.array(
    z.looseObject({ name: z.string(), secret: z.object({ secretName: z.string() }).optional() }),
  ),
});
const labels = z.record(z.string(), z.string());
const templateSchema = z.object({ metadata: z.object({ labels }), spec: podSchema });
const ownerSchema = z.object({ spec: z.looseObject({ template: templateSchema }) });

export type Container = z.output<typeof containerSchema>;

/** The pod that an object of the cluster is, or makes. */
export interface Pod {
  /** Kind and name of that object. */
  of: string;
  /** The label by which services and policies know it. */
  app: string;
  labels: Readonly<Record<string, string>>;
  spec: z.output<typeof podSchema>;
  containers: readonly Container[];
}

const OWNERS = ["Deployment", "StatefulSet", "Job"];

/** All pods that manifests lead to, each once. */
export function podsOf(manifests: readonly Manifest[]): Pod[] {
  return manifests.flatMap((manifest) => {
    if (manifest.kind === "Pod") return [toPod(manifest, templateSchema.parse(manifest))];
    if (!OWNERS.includes(manifest.kind)) return [];
    return [toPod(manifest, ownerSchema.parse(manifest).spec.template)];
  });
}

/** The pod of a Deployment. */
export function podOf(manifests: readonly Manifest[], name: string): Pod & { main: Container } {
  const pod = podsOf(manifests).find(({ of }) => of === `Deployment ${name}`);
  const main = pod?.containers[0];
  if (pod === undefined || main === undefined) throw new Error(`There is no Deployment ${name}`);
  return { ...pod, main };
}

function toPod(manifest: Manifest, { metadata, spec }: z.output<typeof templateSchema>): Pod {
  return {
    of: `${manifest.kind} ${manifest.metadata.name}`,
    app: metadata.labels["app.kubernetes.io/name"] ?? "",
    labels: metadata.labels,
    spec,
    containers: [...spec.initContainers, ...spec.containers],
  };
}
