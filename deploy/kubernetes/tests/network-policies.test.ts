import { beforeAll, describe, expect, it } from "@jest/globals";
import { PARTS } from "../../dev/src/topology.ts";
import { render } from "./support/kustomize.ts";
import type { Manifest } from "./support/kustomize.ts";
import { networkOf } from "./support/network.ts";
import type { End, Network } from "./support/network.ts";
import { podsOf } from "./support/pods.ts";
import type { Pod } from "./support/pods.ts";

const NAMESPACE = "workflow";
const LISTENED = PARTS.flatMap(({ listens }) => listens.map(({ port }) => port));
const PORTS = [...new Set([...LISTENED, 22, 80, 443, 4222, 5432, 8222])];
const METRICS = 9464;
const COLLECTOR = 4318;
const POSTGRES = 5432;
const NATS = 4222;
/** Of the cluster's inside, of clouds' own services, and of what leads there by another form. */
const PRIVATE = `
  10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 127.0.0.1 169.254.169.254 100.64.0.1
  0.0.0.0 198.18.0.1 192.0.0.192 224.0.0.1 255.255.255.255
  ::1 :: fd00::1 fe80::1 ff02::1 ::ffff:10.0.0.1 64:ff9b::a00:1 64:ff9b:1::1
  2002:a00:1::1 2001::1 2001:db8::1
`
  .trim()
  .split(/\s+/);
const PUBLIC = ["1.1.1.1", "93.184.215.14", "2606:4700::1111"];

describe.each(["overlays/dev", "overlays/production"])("%s", (overlay) => {
  let network: Network;
  let pods: Pod[];
  beforeAll(async () => {
    const manifests: Manifest[] = [
      ...(await render(overlay)),
      ...(await render(`${overlay}/operations`)),
    ];
    network = networkOf(manifests, NAMESPACE);
    pods = podsOf(manifests);
  });
  const isDev = overlay === "overlays/dev";
  const end = ({ labels }: Pod): End => ({ namespace: NAMESPACE, labels });

  it("lets through the connections that the code makes, and no other", () => {
    const expected = PARTS.flatMap(({ name, calls }) =>
      calls.map(({ to, setting }) => {
        const listener = PARTS.find((each) => each.name === to)?.listens.find(
          (each) => each.setting === setting,
        );
        return `${name} → ${to}:${listener?.port}`;
      }),
    );
    if (isDev) {
      for (const app of [...PARTS.map(({ name }) => name), "migrate", "admin"]) {
        expected.push(`${app} → postgres:${POSTGRES}`, `${app} → nats:${NATS}`);
      }
    }
    const allowed = pods.flatMap((from) =>
      pods.flatMap((to) =>
        PORTS.filter((port) => network.allows(end(from), end(to), port)).map(
          (port) => `${from.app} → ${to.app}:${port}`,
        ),
      ),
    );
    expect(allowed.toSorted()).toEqual(expected.toSorted());
  });

  it("lets only the parts that call outside reach public addresses, and nobody private ones", () => {
    const outside = PARTS.filter(({ callsOutside }) => callsOutside).map(({ name }) => name);
    const reaching = (address: string, port: number) =>
      pods
        .filter((pod) => network.allows(end(pod), { address }, port))
        .map(({ app }) => app)
        .toSorted();
    for (const address of PUBLIC) {
      expect([address, ...reaching(address, 443)]).toEqual([address, ...outside.toSorted()]);
      expect([address, ...reaching(address, 587)]).toEqual([address, ...outside.toSorted()]);
    }
    for (const address of PRIVATE) expect([address, ...reaching(address, 443)]).toEqual([address]);
  });

  it("lets the world reach the gateway's port, monitoring the metrics, and nothing else", () => {
    const other: End = {
      namespace: "default",
      labels: { "app.kubernetes.io/name": "gateway", "app.kubernetes.io/part-of": "workflow" },
    };
    const monitoring: End = { namespace: "monitoring", labels: {} };
    const reached = (from: End) =>
      pods
        .flatMap((to) =>
          PORTS.filter((port) => network.allows(from, end(to), port)).map(
            (port) => `${to.app}:${port}`,
          ),
        )
        .toSorted();
    expect(reached({ address: "1.1.1.1" })).toEqual(["gateway:8080"]);
    expect(reached(other)).toEqual(["gateway:8080"]);
    const metrics = [...PARTS.map(({ name }) => `${name}:${METRICS}`), "gateway:8080"];
    expect(reached(monitoring).filter((each) => !/^(migrate|admin):/.test(each))).toEqual(
      metrics.toSorted(),
    );
  });

  it("lets every part send traces to the collector", () => {
    const monitoring: End = { namespace: "monitoring", labels: {} };
    const parts = pods.filter(({ app }) => PARTS.some(({ name }) => name === app));
    expect(parts).toHaveLength(PARTS.length);
    expect(parts.filter((pod) => !network.allows(end(pod), monitoring, COLLECTOR))).toEqual([]);
    expect(pods.filter((pod) => network.allows(end(pod), monitoring, 443))).toEqual([]);
  });

  it("lets everybody ask the cluster's name server", () => {
    const dns: End = { namespace: "kube-system", labels: { "k8s-app": "kube-dns" } };
    expect(pods.filter((pod) => !network.allows(end(pod), dns, 53))).toEqual([]);
    expect(pods.filter((pod) => network.allows(end(pod), dns, 443))).toEqual([]);
  });

  it("lets every part reach Postgres and NATS at their ports, in this namespace or outside", () => {
    const ends = (app: string, address: string): End => {
      const pod = pods.find((each) => each.app === app);
      return pod === undefined ? { address } : end(pod);
    };
    const reaching = (to: End, port: number) =>
      pods.filter((pod) => network.allows(end(pod), to, port)).map(({ app }) => app);
    const callers = pods.map(({ app }) => app).filter((app) => !["postgres", "nats"].includes(app));
    const postgres = ends("postgres", "10.20.0.7");
    const nats = ends("nats", "10.20.1.7");
    expect(reaching(postgres, POSTGRES)).toEqual(callers);
    expect(reaching(nats, NATS)).toEqual(callers);
    expect([...reaching(postgres, NATS), ...reaching(nats, POSTGRES)]).toEqual([]);
  });
});
