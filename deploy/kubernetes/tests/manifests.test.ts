import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { loadTls, RenewedCertificates } from "@workflow/rpc";
import { readConfig as gateway } from "@workflow/service-gateway/config";
import { readConfig as integrations } from "@workflow/service-integrations/config";
import { readConfig as runs } from "@workflow/service-runs/config";
import { readConfig as tables } from "@workflow/service-tables/config";
import { readConfig as webhooks } from "@workflow/service-webhooks/config";
import { readConfig as workflows } from "@workflow/service-workflows/config";
import { Ajv } from "ajv";
import { z } from "zod";
import { readAdminSettings } from "../../dev/src/admin/settings.ts";
import { partOf, PARTS } from "../../dev/src/topology.ts";
import type { Part } from "../../dev/src/topology.ts";
import { problemsOf, readApiSchemas } from "./support/api-schemas.ts";
import { environmentOf, makeSecrets } from "./support/environment.ts";
import type { Secrets } from "./support/environment.ts";
import { only, render } from "./support/kustomize.ts";
import type { Manifest } from "./support/kustomize.ts";
import { podOf, podsOf } from "./support/pods.ts";

const OVERLAYS = ["overlays/dev", "overlays/production"] as const;
const FOLDERS = [...OVERLAYS, ...OVERLAYS.map((each) => `${each}/operations`)];
const READ_CONFIG = { gateway, integrations, runs, tables, webhooks, workflows };
const OPERATIONS_PORT = "METRICS_PORT";
/** Seconds of a pod's end beyond those that the code names. */
const SPARE_SECONDS = 5;

const rendered = new Map<string, Manifest[]>();
let secrets: Secrets;

beforeAll(async () => {
  for (const folder of FOLDERS) rendered.set(folder, await render(folder));
  secrets = await makeSecrets();
});
afterAll(() => secrets?.remove());

function manifestsOf(folder: string): Manifest[] {
  const manifests = rendered.get(folder);
  if (manifests === undefined) throw new Error(`${folder} was not rendered`);
  return manifests;
}

describe("the manifests and the API of Kubernetes", () => {
  it("fit each other in three versions, and no member is unknown", async () => {
    const versions = await readApiSchemas();
    expect(versions).toHaveLength(3);
    for (const api of versions) {
      for (const folder of FOLDERS) {
        expect([api.version, folder, problemsOf(manifestsOf(folder), api)]).toEqual([
          api.version,
          folder,
          [],
        ]);
      }
    }
  });

  it("are told apart from wrong ones", async () => {
    const [{ definitions } = { definitions: {} }] = await readApiSchemas();
    const ajv = new Ajv({ strictTypes: false, schemas: [{ $id: "kubernetes", definitions }] });
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "x" } };
    const isService = (spec: object) =>
      ajv.validate("kubernetes#/definitions/V1Service", { ...service, spec });
    expect(isService({ ports: [{ port: 1 }] })).toBe(true);
    expect(isService({ ports: [{ port: "1" }] })).toBe(false);
    expect(isService({ ports: [{ name: "x" }] })).toBe(false);
    expect(isService({ port: [] })).toBe(false);
  });
});

describe.each(OVERLAYS)("%s", (overlay) => {
  const manifests = () => manifestsOf(overlay);

  it("has a Deployment, an autoscaler and a disruption budget for each part, and no other", () => {
    const names = PARTS.map(({ name }) => name).toSorted();
    for (const kind of ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"]) {
      const found = manifests().filter((each) => each.kind === kind);
      expect([kind, ...found.map(({ metadata }) => metadata.name).toSorted()]).toEqual([
        kind,
        ...names,
      ]);
    }
  });

  it.each(PARTS)("gives $name an environment that its service accepts", async (part) => {
    const pod = podOf(manifests(), part.name);
    const env = environmentOf(manifests(), pod, pod.main, secrets);
    const config = READ_CONFIG[part.service](env);
    expect(config).toMatchObject(part.fixed);
    const own = new Set(part.listens.map(({ setting }) => setting));
    for (const { setting, port } of part.listens) {
      if (setting.endsWith("_ADDR"))
        expect([setting, env[setting]]).toEqual([setting, `0.0.0.0:${port}`]);
    }
    for (const { to, setting, protocol } of part.calls) {
      expect(own.has(setting)).toBe(false);
      const port = partOf(to).listens.find(
        (each) => each.setting === setting && each.protocol === protocol,
      )?.port;
      expect([setting, env[setting]]).toEqual([setting, `${to}:${port}`]);
      expect(servicePorts(manifests(), to)).toContainEqual({ port, containerPort: port });
    }
    const tls = await loadTls({
      certFile: env["GRPC_TLS_CERT_FILE"],
      keyFile: env["GRPC_TLS_KEY_FILE"],
      caFile: env["GRPC_TLS_CA_FILE"],
      allowPlaintext: env["GRPC_ALLOW_PLAINTEXT"] === "true",
    });
    const isPlain = overlay === "overlays/dev";
    expect(tls).toEqual(isPlain ? "plain-text-allowed" : expect.any(RenewedCertificates));
    const readsHttpTls = part.settings.includes("WEBHOOKS_HTTP_TLS");
    expect(env["WEBHOOKS_HTTP_TLS"]).toBe(!isPlain && readsHttpTls ? "true" : undefined);
    expect(env).toMatchObject({ RUN_RETENTION_DAYS: "90", WEBHOOK_REQUIRE_SIGNATURE: "true" });
  });

  it.each(PARTS)("lets $name take secrets as files only, and no more than it reads", (part) => {
    const { main, spec } = podOf(manifests(), part.name);
    const secret = /(_URL|_KEY|_KEYS|_KEK|_SECRET)$/;
    expect(main.env.map(({ name }) => name).filter((name) => secret.test(name))).toEqual([]);
    const known = new Set<string>(part.settings);
    const files = main.env
      .map(({ name }) => name)
      .filter((name) => name.endsWith("_FILE") && !known.has(name));
    expect(files.filter((name) => !known.has(name.slice(0, -"_FILE".length)))).toEqual([]);
    const allowed = [part.name, `${part.name}-tls`];
    const mounted = spec.volumes.flatMap(({ secret: each }) => each?.secretName ?? []);
    expect(mounted.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it.each(PARTS)(
    "asks $name at the ports that it listens on whether it lives and serves",
    (part) => {
      const { main } = podOf(manifests(), part.name);
      const ports = new Map(main.ports.map(({ name, containerPort }) => [name, containerPort]));
      expect(new Set(ports.values())).toEqual(new Set(part.listens.map(({ port }) => port)));
      const metrics = part.listens.find(({ setting }) => setting === OPERATIONS_PORT)?.port;
      for (const probe of [main.startupProbe, main.livenessProbe]) {
        expect(probe?.httpGet).toEqual({ path: "/livez", port: "metrics" });
      }
      expect(ports.get("metrics")).toBe(metrics);
      // The probe is /readyz: the health service of gRPC is content while Postgres is away.
      expect(main.readinessProbe?.grpc).toBeUndefined();
      expect(main.readinessProbe?.httpGet).toEqual({
        path: "/readyz",
        port: part.name === "gateway" ? "http" : "metrics",
      });
    },
  );

  it.each(PARTS)("gives $name the time that its stop may take", (part) => {
    const { main, spec } = podOf(manifests(), part.name);
    const isCalled =
      part.name === "gateway" ||
      PARTS.some(({ calls }) => calls.some(({ to }) => to === part.name));
    const seconds = main.lifecycle?.preStop.sleep.seconds ?? 0;
    expect(seconds > 0).toBe(isCalled);
    expect(spec.terminationGracePeriodSeconds).toBe(seconds + part.stopSecondsMax + SPARE_SECONDS);
  });

  it.each(PARTS)("spreads $name and says what it needs", (part) => {
    const { main, spec } = podOf(manifests(), part.name);
    expect(main.resources).toEqual({
      requests: {
        cpu: expect.any(String),
        memory: expect.any(String),
        // Only data tables write to the node's disk.
        ...(part.name === "tables" && { "ephemeral-storage": "1Gi" }),
      },
      limits: { memory: expect.any(String) },
    });
    expect(spec.topologySpreadConstraints.map(({ topologyKey }) => topologyKey)).toEqual([
      "kubernetes.io/hostname",
      "topology.kubernetes.io/zone",
    ]);
  });

  it("serves what others call under the name of its part, each pod by its own address", () => {
    for (const part of PARTS) {
      const own = part.listens.filter(({ setting }) => setting !== OPERATIONS_PORT);
      const services = manifests().filter(
        ({ kind, metadata }) => kind === "Service" && metadata.name === part.name,
      );
      expect([part.name, services.length]).toEqual([part.name, own.length > 0 ? 1 : 0]);
      if (own.length === 0) continue;
      expect(
        servicePorts(manifests(), part.name).map(({ containerPort }) => containerPort),
      ).toEqual(own.map(({ port }) => port));
      const headless = part.name === "gateway" ? undefined : "None";
      expect(Reflect.get(Object(services[0]?.["spec"]), "clusterIP")).toBe(headless);
    }
  });
});

describe.each(FOLDERS)("pods of %s", (folder) => {
  it("keep to the restricted standard of Pod Security, with a root file system that nobody writes", () => {
    for (const { of, spec, containers } of podsOf(manifestsOf(folder))) {
      expect([of, spec]).toEqual([of, expect.objectContaining(RESTRICTED_POD)]);
      for (const forbidden of ["hostNetwork", "hostPID", "hostIPC", "hostUsers"]) {
        expect([of, spec]).not.toEqual([
          of,
          expect.objectContaining({ [forbidden]: expect.anything() }),
        ]);
      }
      const sources = spec.volumes.flatMap((volume) => Object.keys(volume));
      const allowed = ["name", "secret", "configMap", "emptyDir"];
      expect([of, ...sources.filter((source) => !allowed.includes(source))]).toEqual([of]);
      for (const { name, securityContext } of containers) {
        expect([of, name, securityContext]).toEqual([of, name, RESTRICTED_CONTAINER]);
      }
    }
  });

  it("name a version of each image", () => {
    for (const { containers } of podsOf(manifestsOf(folder))) {
      for (const { image } of containers) expect(image).toMatch(/^[^:@]+:(?!latest)[\w.-]+$/);
    }
  });
});

const RESTRICTED_POD = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: expect.any(Number),
    runAsGroup: expect.any(Number),
    fsGroup: expect.any(Number),
    seccompProfile: { type: "RuntimeDefault" },
  },
};
const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

describe("the Ingress", () => {
  it("lets through what the gateway takes, and the page about proxies names both", async () => {
    const ingress = only(manifestsOf("overlays/production"), "Ingress", "gateway");
    const prefix = "nginx.ingress.kubernetes.io/";
    const { annotations } = z
      .object({ annotations: z.record(z.string(), z.string()) })
      .parse(ingress.metadata);
    const sizeMib = Number(/^(\d+)m$/.exec(annotations[`${prefix}proxy-body-size`] ?? "")?.[1]);
    expect(sizeMib).toBeGreaterThanOrEqual(64);
    for (const name of ["proxy-read-timeout", "proxy-send-timeout"]) {
      expect([name, Number(annotations[prefix + name]) > 300]).toEqual([name, true]);
    }
    expect(annotations).toMatchObject({
      [`${prefix}proxy-buffering`]: "off",
      [`${prefix}proxy-next-upstream`]: "off",
    });
    const page = await readFile(new URL("../../../docs/ops/proxies.md", import.meta.url), "utf8");
    for (const name of ["proxy-body-size", "proxy-read-timeout"]) expect(page).toContain(name);
  });
});

describe.each(OVERLAYS)("operations of %s", (overlay) => {
  it("have settings that the admin command accepts", () => {
    const manifests = manifestsOf(`${overlay}/operations`);
    for (const pod of podsOf(manifests)) {
      for (const container of pod.containers) {
        const env = environmentOf(manifests, pod, container, secrets);
        expect(readAdminSettings(env)).toMatchObject({
          DATABASE_URL: expect.stringContaining("workflow_owner"),
          NATS_URL: expect.stringContaining("//setup:"),
        });
      }
    }
    expect(
      podsOf(manifests)
        .map(({ of }) => of)
        .toSorted(),
    ).toEqual(["Job migrate", "Pod admin"]);
  });
});

/** The ports of a Service, and the ports of its pods behind them. */
function servicePorts(manifests: readonly Manifest[], name: Part["name"]) {
  const service = z.object({
    spec: z.object({
      selector: z.record(z.string(), z.string()),
      ports: z.array(z.object({ port: z.number(), targetPort: z.string() })),
    }),
  });
  const { selector, ports } = service.parse(only(manifests, "Service", name)).spec;
  const { main, labels } = podOf(manifests, name);
  expect(labels).toMatchObject(selector);
  return ports.map(({ port, targetPort }) => ({
    port,
    containerPort: main.ports.find((each) => each.name === targetPort)?.containerPort,
  }));
}
