import type { DnsAnswer, DnsQuestion } from "./dns-double.ts";

/** A way to write an address of this machine, or of the network around it. */
export interface InsideForm {
  name: string;
  /** `host` or `host:port`; a host alone where `url` is null. */
  host: string;
  /** The whole URL where it is more than `https://`, host and path. */
  url: string;
}

/** Hosts that are addresses, in every spelling; `:PORT` is the canary's. */
const ADDRESSES: Readonly<Record<string, string>> = {
  plain: "127.0.0.1:PORT",
  "with a dot at the end": "127.0.0.1.:PORT",
  "of three parts": "127.0.1:PORT",
  "of two parts": "127.1:PORT",
  "as one number": "2130706433:PORT",
  "as one octal number": "017700000001:PORT",
  "as one hexadecimal number": "0x7f000001:PORT",
  "as one hexadecimal number in capitals": "0X7F000001:PORT",
  "with octal parts": "0177.0.0.01:PORT",
  "with hexadecimal parts": "0x7f.0x0.0x0.0x1:PORT",
  "with parts of all kinds": "0x7f.0.01:PORT",
  "percent-encoded": "%31%32%37.0.0.1:PORT",
  "with full-width digits": "１２７.０.０.１:PORT",
  "with circled digits": "①②⑦.0.0.①:PORT",
  "with ideographic stops": "127。0。0。1:PORT",
  "of all interfaces": "0.0.0.0:PORT",
  "of all interfaces, as zero": "0:PORT",
  "elsewhere in loopback": "127.255.255.254:PORT",
  "IPv6 loopback": "[::1]:PORT",
  "IPv6 loopback in full": "[0:0:0:0:0:0:0:1]:PORT",
  "IPv6 of all interfaces": "[::]:PORT",
  "mapped into IPv6": "[::ffff:127.0.0.1]:PORT",
  "mapped into IPv6, hexadecimal": "[::ffff:7f00:1]:PORT",
  "mapped into IPv6, in full": "[0:0:0:0:0:FFFF:127.0.0.1]:PORT",
  "compatible with IPv4": "[::127.0.0.1]:PORT",
  "translated from IPv4": "[::ffff:0:127.0.0.1]:PORT",
  "behind NAT64": "[64:ff9b::127.0.0.1]:PORT",
  "behind local NAT64": "[64:ff9b:1:7f00:0:100::]:PORT",
  "within 6to4": "[2002:7f00:1::]:PORT",
  "within Teredo": "[2001:0:7f00:1::1]:PORT",
  "unique local": "[fd00::1]:PORT",
  "link-local": "[fe80::1]:PORT",
  "site-local": "[fec0::1]:PORT",
  multicast: "[ff02::1]:PORT",
  discard: "[100::1]:PORT",
  "private of class A": "10.0.0.1",
  "private of class B": "172.16.0.1",
  "private of class C": "192.168.0.1",
  "carrier-grade NAT": "100.64.0.1",
  "metadata of most clouds": "169.254.169.254",
  "metadata as one number": "2852039166",
  "metadata with octal parts": "0251.0376.0251.0376",
  "metadata mapped into IPv6": "[::ffff:a9fe:a9fe]",
  "metadata by IPv6": "[fd00:ec2::254]",
  "metadata of Alibaba": "100.100.100.200",
  "metadata of Oracle": "192.0.0.192",
  "metadata of Azure": "168.63.129.16",
};

/**
 * An address of the public internet that IANA has assigned to nobody, so a test that allows it disturbs
 * nobody.
 */
const UNASSIGNED = "2e00::1";

/** Names with the name server's answers. A name without answers is resolved on the machine itself. */
const NAMES: Readonly<Record<string, { host: string; answers?: readonly string[] }>> = {
  localhost: { host: "localhost:PORT" },
  "localhost with a dot": { host: "localhost.:PORT" },
  "localhost in capitals": { host: "LOCALHOST:PORT" },
  "localhost percent-encoded": { host: "%6cocalhost:PORT" },
  "localhost in circled letters": { host: "ⓛocalhost:PORT" },
  "localhost with a soft hyphen": { host: "local\u00adhost:PORT" },
  "a name below localhost": { host: "any.localhost:PORT" },
  "a name with a loopback address": { host: "loop.test:PORT", answers: ["127.0.0.1"] },
  "a name with a dot at the end": { host: "dotted.test.:PORT", answers: ["127.0.0.1"] },
  "a name with an address of IPv6": { host: "six.test:PORT", answers: ["::1"] },
  "a name with a mapped address": { host: "mapped.test:PORT", answers: ["::ffff:127.0.0.1"] },
  "a name with a public address too": {
    host: "both.test:PORT",
    answers: [UNASSIGNED, "127.0.0.1"],
  },
  "a name with the metadata address": {
    host: "metadata.google.internal",
    answers: ["169.254.169.254"],
  },
  "a wildcard name": { host: "127.0.0.1.nip.test:PORT", answers: ["127.0.0.1"] },
  "a name that will be another address": { host: "rebind.test:PORT" },
};

/** Attacks that need a whole URL. */
const URLS: Readonly<Record<string, string>> = {
  http: "http://127.0.0.1:PORT/",
  "a user": "https://user@127.0.0.1:PORT/",
  "a user that looks like a host": "https://example.test@127.0.0.1:PORT/",
  "a password that looks like a port": "https://example.test:443@127.0.0.1:PORT/",
  backslashes: "https:\\\\127.0.0.1:PORT\\",
  "a tab in the host": "https://127.0.\t0.1:PORT/",
  "capitals in the scheme": "HTTPS://127.0.0.1:PORT/",
  "no slashes": "https:127.0.0.1:PORT/",
  "many slashes": "https://///127.0.0.1:PORT/",
  "zeros before the port": "https://127.0.0.1:0000PORT/",
  "a zone": "https://[fe80::1%25lo]:PORT/",
};

/** All forms with the canary's port. */
export function insideForms(port: number): InsideForm[] {
  const put = (text: string): string => text.replace("PORT", String(port));
  const hosts = [
    ...Object.entries(ADDRESSES),
    ...Object.entries(NAMES).map(([name, { host }]): [string, string] => [name, host]),
  ];
  return [
    ...hosts.map(([name, host]) => ({ name, host: put(host), url: `https://${put(host)}/` })),
    ...Object.entries(URLS).map(([name, text]) => {
      const url = put(text);
      return { name, host: url.replace(/^https?:[/\\]*/i, "").replace(/[/\\]+$/, ""), url };
    }),
  ];
}

/** The name server's answer. A name may point to an internal address at the second question. */
export function answerInside({ name, type, times }: DnsQuestion): DnsAnswer {
  if (name === "rebind.test") {
    const isFirst = times === 0 && type === "AAAA";
    return isFirst ? [UNASSIGNED] : times === 0 ? [] : ["127.0.0.1", "::1"];
  }
  const known = Object.values(NAMES).find(
    ({ host }) => host.replace(/\.?(?::PORT)?$/, "") === name,
  );
  return known?.answers ?? "NXDOMAIN";
}
