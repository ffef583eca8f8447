import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { readConfig } from "@workflow/service-runs/config";
import { z } from "zod";
import { problemsOf, readApiSchemas } from "./support/api-schemas.ts";
import { environmentOf, makeSecrets } from "./support/environment.ts";
import type { Secrets } from "./support/environment.ts";
import { only, render } from "./support/kustomize.ts";
import type { Manifest } from "./support/kustomize.ts";
import { networkOf } from "./support/network.ts";
import { podOf, podsOf } from "./support/pods.ts";

/*
 * Workers of named pools in both overlays: "heavy" by the component as it is, "night" by a copy of it, made by
 * the commands of README.md.
 */

const KUBERNETES = fileURLToPath(new URL("..", import.meta.url));
const OVERLAYS = ["dev", "production"] as const;
const WORKER = "runs-worker";
const POOLS = ["heavy", "night"] as const;
const NAME = "app.kubernetes.io/name";
const AGE = "runs_pool_oldest_due_task_age_seconds";

let folder: string;
let secrets: Secrets;
const rendered = new Map<string, { plain: Manifest[]; pooled: Manifest[] }>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "worker-pool-"));
  await cp(join(KUBERNETES, "../nats"), join(folder, "nats"), { recursive: true });
  const copy = join(folder, "kubernetes");
  for (const name of ["base", "components", "overlays"]) {
    await cp(join(KUBERNETES, name), join(copy, name), { recursive: true });
  }
  await copyPool(join(copy, "components"));
  secrets = await makeSecrets();
  for (const overlay of OVERLAYS) {
    const plain = await render(`overlays/${overlay}`);
    await addPools(join(copy, "overlays", overlay, "kustomization.yaml"));
    const place = relative(KUBERNETES, join(copy, "overlays", overlay));
    rendered.set(overlay, { plain, pooled: await render(place) });
  }
});
afterAll(async () => {
  await secrets?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** `cp -r worker-pool worker-pool-night`, and `sed -i s/heavy/night/g` of its files. */
async function copyPool(components: string): Promise<void> {
  const to = join(components, "worker-pool-night");
  await cp(join(components, "worker-pool"), to, { recursive: true });
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    await writeFile(file, (await readFile(file, "utf8")).replaceAll("heavy", "night"));
  }
}

/** Lists the components before those that are there. */
async function addPools(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const added = ["queue-age", "worker-pool", "worker-pool/queue-age", "worker-pool-night"];
  const lines = added.map((each) => `  - ../../components/${each}\n`).join("");
  const isThere = text.includes("\ncomponents:\n");
  await writeFile(
    file,
    isThere
      ? text.replace("\ncomponents:\n", `\ncomponents:\n${lines}`)
      : `${text}\ncomponents:\n${lines}`,
  );
}

function of(overlay: string) {
  const found = rendered.get(overlay);
  if (found === undefined) throw new Error(`${overlay} was not rendered`);
  return found;
}

describe.each(OVERLAYS)("worker pools in the overlay %s", (overlay) => {
  it("fit the API of Kubernetes, and let topology constraints name no label twice", async () => {
    const { pooled } = of(overlay);
    for (const api of await readApiSchemas()) {
      expect([api.version, problemsOf(pooled, api)]).toEqual([api.version, []]);
    }
    const constraint = z.object({
      matchLabelKeys: z.array(z.string()),
      labelSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    });
    for (const pool of POOLS) {
      const { spec } = podOf(pooled, `${WORKER}-of-${pool}`);
      for (const each of spec.topologySpreadConstraints) {
        const { matchLabelKeys, labelSelector } = constraint.parse(each);
        const twice = matchLabelKeys.filter((key) => Object.hasOwn(labelSelector.matchLabels, key));
        expect([pool, twice]).toEqual([pool, []]);
      }
    }
  });

  it("leave everything else as it is", () => {
    const { plain, pooled } = of(overlay);
    const kinds = ["Deployment", "PodDisruptionBudget", "Service", "StatefulSet"];
    const others = pooled.filter(
      ({ kind, metadata }) => kinds.includes(kind) && !metadata.name.includes("-of-"),
    );
    expect(others).toEqual(plain.filter(({ kind }) => kinds.includes(kind)));
    const own = pooled.filter(({ metadata }) => metadata.name.includes("-of-"));
    expect(own.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual(
      ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"]
        .flatMap((kind) => POOLS.map((pool) => `${kind} ${WORKER}-of-${pool}`))
        .toSorted(),
    );
  });

  it.each(POOLS)("start the process of a worker as any other, but of the pool %s", (pool) => {
    const { pooled } = of(overlay);
    const usual = podOf(pooled, WORKER);
    const pod = podOf(pooled, `${WORKER}-of-${pool}`);
    const read = (each: typeof pod) => readConfig(environmentOf(pooled, each, each.main, secrets));
    expect(read(usual)).toMatchObject({ RUNS_ROLE: "worker", RUNS_POOL: "default" });
    expect(read(pod)).toEqual({ ...read(usual), RUNS_POOL: pool });
    const env = usual.main.env.concat({ name: "RUNS_POOL", value: pool });
    const byName = (list: typeof env) => new Map(list.map(({ name, value }) => [name, value]));
    expect(byName(pod.main.env)).toEqual(byName(env));
    const { containers } = usual.spec;
    expect({ ...pod.spec, containers: [{ ...pod.main, env: usual.main.env }] }).toEqual({
      ...usual.spec,
      containers: containers.map((each) => ({ ...each, env: usual.main.env })),
    });
    expect(pod.labels).toEqual({ ...usual.labels, [NAME]: `${WORKER}-of-${pool}` });
  });

  it("are scaled and disrupted apart: a selector finds the pods of one pool only", () => {
    const { pooled } = of(overlay);
    const selecting = z.object({
      spec: z.object({ selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }),
    });
    const names = [WORKER, ...POOLS.map((pool) => `${WORKER}-of-${pool}`)];
    for (const name of names) {
      for (const kind of ["Deployment", "PodDisruptionBudget"]) {
        const { matchLabels } = selecting.parse(only(pooled, kind, name)).spec.selector;
        const found = podsOf(pooled).filter(({ labels }) =>
          Object.entries(matchLabels).every(([key, value]) => labels[key] === value),
        );
        expect([kind, name, ...found.map(({ of: owner }) => owner)]).toEqual([
          kind,
          name,
          `Deployment ${name}`,
        ]);
      }
    }
  });

  it("follow the age of their own queue where that is asked for, by a series that workers have", async () => {
    const { pooled } = of(overlay);
    const metric = (pool: string) => ({
      type: "External",
      external: {
        metric: { name: AGE, selector: { matchLabels: { pool } } },
        target: { type: "Value", value: "10" },
      },
    });
    const cpu = expect.objectContaining({ type: "Resource" });
    const autoscaler = z.object({
      spec: z.object({
        scaleTargetRef: z.object({ kind: z.string(), name: z.string() }),
        metrics: z.array(z.unknown()),
      }),
    });
    const expected = {
      [WORKER]: [metric("default"), cpu],
      [`${WORKER}-of-heavy`]: [metric("heavy"), cpu],
      // Without its component.
      [`${WORKER}-of-night`]: [cpu],
    };
    for (const [name, metrics] of Object.entries(expected)) {
      const { spec } = autoscaler.parse(only(pooled, "HorizontalPodAutoscaler", name));
      expect(spec).toEqual({ scaleTargetRef: { kind: "Deployment", name }, metrics });
    }
    const page = await readFile(new URL("../../../docs/ops/metrics.md", import.meta.url), "utf8");
    expect(page).toMatch(new RegExp(`\n\\| \`${AGE}\` +\\| all +\\| pool +\\|`));
  });

  it("reach what other workers reach, and nothing else", () => {
    const { pooled } = of(overlay);
    const network = networkOf(pooled, "workflow");
    const pods = podsOf(pooled);
    const ports = [443, 4222, 5432, 8080, 8081, 9464, 50051, 50052, 50053, 50054, 50055];
    const outside = ["1.1.1.1", "10.0.0.1", "169.254.169.254", "10.20.0.7", "10.20.1.7"];
    const end = ({ labels }: { labels: Readonly<Record<string, string>> }) => ({
      namespace: "workflow",
      labels,
    });
    const reached = (name: string): string[] => {
      const from = end(podOf(pooled, name));
      const to = pods.map((pod) => [pod.of, end(pod)] as const);
      const addresses = outside.map((address) => [address, { address }] as const);
      return [...to, ...addresses].flatMap(([what, each]) =>
        ports.filter((port) => network.allows(from, each, port)).map((port) => `${what}:${port}`),
      );
    };
    const usual = reached(WORKER);
    expect(usual).toContain("Deployment integrations:50054");
    for (const pool of POOLS) expect(reached(`${WORKER}-of-${pool}`)).toEqual(usual);
    const callers = pods.filter((pod) =>
      network.allows(end(pod), end(podOf(pooled, `${WORKER}-of-heavy`)), 9464),
    );
    expect(callers).toEqual([]);
  });
});
