import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { PARTS } from "../../dev/src/topology.ts";
import { only, render } from "./support/kustomize.ts";
import type { Manifest } from "./support/kustomize.ts";

const OVERLAYS = ["overlays/dev", "overlays/production"] as const;

const rendered = new Map<string, Manifest[]>();

beforeAll(async () => {
  for (const folder of OVERLAYS) rendered.set(folder, await render(folder));
});

function manifestsOf(folder: string): Manifest[] {
  const manifests = rendered.get(folder);
  if (manifests === undefined) throw new Error(`${folder} was not rendered`);
  return manifests;
}

describe("scaling", () => {
  const hpa = z.object({
    spec: z.object({
      minReplicas: z.number(),
      maxReplicas: z.number(),
      metrics: z.array(z.unknown()),
    }),
  });
  const cpu = {
    type: "Resource",
    resource: {
      name: "cpu",
      target: { type: "Utilization", averageUtilization: expect.any(Number) },
    },
  };

  function metricsOf(manifests: readonly Manifest[], name: string): unknown[] {
    const { spec } = hpa.parse(only(manifests, "HorizontalPodAutoscaler", name));
    expect([name, spec.maxReplicas > spec.minReplicas]).toEqual([name, true]);
    return spec.metrics;
  }

  it("follows the load alone, since an autoscaler that lacks a metric never scales down", () => {
    for (const overlay of OVERLAYS) {
      for (const { name } of PARTS) {
        expect([name, metricsOf(manifestsOf(overlay), name)]).toEqual([name, [cpu]]);
      }
    }
  });

  it("follows the age of the queue for workers where that is asked for, by a metric that they have", async () => {
    const folder = await mkdtemp(join(tmpdir(), "queue-age-"));
    const from = (path: string) =>
      relative(folder, fileURLToPath(new URL(`../${path}`, import.meta.url)));
    const kustomization = {
      resources: [from("overlays/production")],
      components: [from("components/queue-age")],
    };
    await writeFile(join(folder, "kustomization.yaml"), JSON.stringify(kustomization));
    const kubernetes = fileURLToPath(new URL("..", import.meta.url));
    let manifests: Manifest[];
    try {
      manifests = await render(relative(kubernetes, folder));
    } finally {
      await rm(folder, { recursive: true });
    }
    for (const { name } of PARTS) {
      const metric = { name: AGE, selector: { matchLabels: { pool: "default" } } };
      const age = { type: "External", external: { metric, target: AGE_TARGET } };
      expect([name, metricsOf(manifests, name)]).toEqual([
        name,
        name === "runs-worker" ? [age, cpu] : [cpu],
      ]);
    }
    const metrics = await readFile(
      new URL("../../../docs/ops/metrics.md", import.meta.url),
      "utf8",
    );
    expect(metrics).toContain(`\n| \`${AGE}\``);
  });

  const AGE_TARGET = { type: "Value", value: "10" };
  const AGE = "runs_pool_oldest_due_task_age_seconds";
});
