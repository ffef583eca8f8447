import { BlockList, isIPv4 } from "node:net";
import { z } from "zod";
import type { Manifest } from "./kustomize.ts";

const labels = z.record(z.string(), z.string());
const selector = z.object({
  matchLabels: labels.default({}),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.literal("In"), values: z.array(z.string()) }))
    .default([]),
});
const peer = z.strictObject({
  podSelector: selector.optional(),
  namespaceSelector: selector.optional(),
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
});
const ports = z.array(z.strictObject({ port: z.number(), protocol: z.string().default("TCP") }));
const policySchema = z.object({
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.array(z.enum(["Ingress", "Egress"])),
    ingress: z
      .array(z.strictObject({ from: z.array(peer).optional(), ports: ports.optional() }))
      .default([]),
    egress: z
      .array(z.strictObject({ to: z.array(peer).optional(), ports: ports.optional() }))
      .default([]),
  }),
});
type Policy = z.output<typeof policySchema>["spec"];
type Selector = z.output<typeof selector>;
type Peer = z.output<typeof peer>;

/** One end of a connection: a pod of some namespace, or an address outside of the cluster. */
export type End =
  { namespace: string; labels: Readonly<Record<string, string>> } | { address: string };

/** What NetworkPolicies of a namespace let through, over TCP. */
export interface Network {
  allows(from: End, to: End, port: number): boolean;
}

/** Reads the policies as a cluster does that enforces them; only what ours make use of is known. */
export function networkOf(manifests: readonly Manifest[], namespace: string): Network {
  const policies = manifests
    .filter(({ kind }) => kind === "NetworkPolicy")
    .map((manifest) => policySchema.parse(manifest).spec);

  function passes(end: End, direction: "Ingress" | "Egress", other: End, port: number): boolean {
    if ("address" in end || end.namespace !== namespace) return true;
    const ruling = policies.filter(
      ({ podSelector, policyTypes }) =>
        policyTypes.includes(direction) && selects(podSelector, end.labels),
    );
    if (ruling.length === 0) return true;
    return ruling
      .flatMap((policy) => rulesOf(policy, direction))
      .some(
        (rule) =>
          (rule.peers === undefined || rule.peers.some((each) => isPeer(each, other, namespace))) &&
          (rule.ports === undefined ||
            rule.ports.some((each) => each.protocol === "TCP" && each.port === port)),
      );
  }

  return {
    allows: (from, to, port) =>
      passes(from, "Egress", to, port) && passes(to, "Ingress", from, port),
  };
}

function rulesOf({ ingress, egress }: Policy, direction: "Ingress" | "Egress") {
  return direction === "Ingress"
    ? ingress.map((rule) => ({ peers: rule.from, ports: rule.ports }))
    : egress.map((rule) => ({ peers: rule.to, ports: rule.ports }));
}

function isPeer(each: Peer, end: End, own: string): boolean {
  if (each.ipBlock !== undefined) {
    // Addresses of pods change: blocks mean what is outside.
    if (!("address" in end)) return false;
    const { cidr, except } = each.ipBlock;
    return contains(cidr, end.address) && !except.some((block) => contains(block, end.address));
  }
  if ("address" in end) return false;
  const isNamespace =
    each.namespaceSelector === undefined
      ? end.namespace === own
      : selects(each.namespaceSelector, { "kubernetes.io/metadata.name": end.namespace });
  return isNamespace && (each.podSelector === undefined || selects(each.podSelector, end.labels));
}

function selects(
  { matchLabels, matchExpressions }: Selector,
  given: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => given[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(given[key] ?? ""))
  );
}

function contains(cidr: string, address: string): boolean {
  const [network = "", prefix = ""] = cidr.split("/");
  if (isIPv4(network) !== isIPv4(address)) return false;
  const family = isIPv4(network) ? "ipv4" : "ipv6";
  const block = new BlockList();
  block.addSubnet(network, Number(prefix), family);
  return block.check(address, family);
}
