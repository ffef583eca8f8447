import { describe, expect, it } from "@jest/globals";

import { isPublicAddress } from "../src/address-policy.ts";
import { parseNat64Prefix } from "../src/nat64.ts";
import { createSafeHttpClient } from "@workflow/http-client";
import { failureOf, get } from "./support/requests.ts";

describe("addresses of the public internet are allowed", () => {
  it.each([
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:81b::200e",
    "64:ff9b::8.8.8.8",
    "64:ff9b:1:808:8:800::",
  ])("%s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe("every other address is refused", () => {
  it.each([
    ["0.0.0.0", "this host"],
    ["0.1.2.3", "this network"],
    ["10.0.0.0", "private"],
    ["10.255.255.255", "private"],
    ["100.64.0.1", "carrier-grade NAT"],
    ["100.100.100.200", "metadata service of a cloud"],
    ["127.0.0.1", "loopback"],
    ["127.255.255.254", "loopback"],
    ["168.63.129.16", "WireServer"],
    ["169.254.169.254", "metadata service of a cloud"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["192.0.0.192", "protocol assignments"],
    ["192.0.2.1", "documentation"],
    ["192.88.99.1", "6to4 relay"],
    ["192.168.0.1", "private"],
    ["198.18.0.1", "benchmarking"],
    ["198.19.255.255", "benchmarking"],
    ["198.51.100.1", "documentation"],
    ["203.0.113.1", "documentation"],
    ["224.0.0.1", "multicast"],
    ["239.255.255.250", "multicast"],
    ["240.0.0.1", "reserved"],
    ["255.255.255.255", "broadcast"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::127.0.0.1", "IPv4-compatible"],
    ["::8.8.8.8", "IPv4-compatible"],
    ["::ffff:127.0.0.1", "IPv4-mapped"],
    ["::ffff:7f00:1", "IPv4-mapped"],
    ["::ffff:8.8.8.8", "IPv4-mapped"],
    ["::ffff:0:127.0.0.1", "IPv4-translated"],
    ["64:ff9b::127.0.0.1", "NAT64 of loopback"],
    ["64:ff9b::a9fe:a9fe", "NAT64 of link-local"],
    ["64:ff9b::a00:1", "NAT64 of private"],
    ["64:ff9b:1::1", "local NAT64 of this network"],
    ["64:ff9b:1::8.8.8.8", "local NAT64 with bits where there should be none"],
    ["64:ff9b:1:a00:0:100::", "local NAT64 of private"],
    ["64:ff9b:1:7f00:0:100::", "local NAT64 of loopback"],
    ["64:ff9b:1:a9fe:a9:fe00::", "local NAT64 of the metadata service"],
    ["64:ff9b:1:808:8:800:0:1", "local NAT64 with a suffix"],
    ["64:ff9b:2::8.8.8.8", "beyond local NAT64"],
    ["100::1", "discard"],
    ["2001::1", "Teredo"],
    ["2001:2::1", "benchmarking"],
    ["2001:db8::1", "documentation"],
    ["2002:7f00:1::", "6to4 of loopback"],
    ["2002:808:808::", "6to4"],
    ["3fff::1", "documentation"],
    ["4000::1", "not assigned"],
    ["5f00::1", "segment routing"],
    ["fc00::1", "unique local"],
    ["fd00:ec2::254", "metadata service of a cloud"],
    ["fe80::1", "link-local"],
    ["fe80::1%eth0", "link-local with a zone"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["0x7f.1", "not how a resolver spells an address"],
    ["0177.0.0.1", "not how a resolver spells an address"],
    ["2130706433", "not how a resolver spells an address"],
    ["example.com", "a name"],
    ["", "nothing"],
  ])("%s (%s)", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe("a NAT64 prefix of the network's own", () => {
  // The examples of RFC 6052, section 2.4, with a public and a private address.
  const PREFIXES: [string, string, string][] = [
    ["2a01:db8::/32", "2a01:db8:808:404::", "2a01:db8:a00:1::"],
    ["2a01:db8:100::/40", "2a01:db8:108:804:4::", "2a01:db8:10a:0:1::"],
    ["2a01:db8:122::/48", "2a01:db8:122:808:4:400::", "2a01:db8:122:a00:0:100::"],
    ["2a01:db8:122:300::/56", "2a01:db8:122:308:8:404::", "2a01:db8:122:30a:0:1::"],
    ["2a01:db8:122:344::/64", "2a01:db8:122:344:8:804:400::", "2a01:db8:122:344:a:0:100::"],
    ["2a01:db8:122:344::/96", "2a01:db8:122:344::8.8.4.4", "2a01:db8:122:344::10.0.0.1"],
    ["fd00:64::/96", "fd00:64::8.8.4.4", "fd00:64::10.0.0.1"],
  ];

  it.each(PREFIXES)("%s lets %s through and not %s", (text, publicOne, privateOne) => {
    const prefixes = [parseNat64Prefix(text)];
    expect(isPublicAddress(publicOne, prefixes)).toBe(true);
    expect(isPublicAddress(privateOne, prefixes)).toBe(false);
  });

  it("does not change what is outside of it, nor the known ones", () => {
    const prefixes = [parseNat64Prefix("2a01:db8::/96")];
    const judge = (address: string): boolean => isPublicAddress(address, prefixes);
    expect(["2a01:db8:0:1::10.0.0.1", "8.8.8.8", "64:ff9b::8.8.8.8"].map(judge)).toEqual([
      true,
      true,
      true,
    ]);
    expect(["64:ff9b::10.0.0.1", "10.0.0.1"].map(judge)).toEqual([false, false]);
  });

  it("within another one counts as both", () => {
    const prefixes = ["2a01:db8::/32", "2a01:db8:808:808::/96"].map(parseNat64Prefix);
    expect(isPublicAddress("2a01:db8:808:808::10.0.0.1", prefixes)).toBe(false);
    expect(isPublicAddress("2a01:db8:808:808::", prefixes)).toBe(false);
  });

  it("judges the hosts of requests", async () => {
    const url = "https://[2a01:db8::10.0.0.1]/";
    await using client = createSafeHttpClient({
      allowPrivate: false,
      nat64Prefixes: ["2a01:db8::/96"],
    });
    expect((await failureOf(client.request(get(url)))).code).toBe("ADDRESS_NOT_ALLOWED");
  });

  it.each(["", "64:ff9b::", "64:ff9b::/97", "64:ff9b::/0", "10.0.0.0/96", "x/96", "::/96/1"])(
    "is refused when it is none: %j",
    (text) => {
      expect(() => parseNat64Prefix(text)).toThrow(RangeError);
    },
  );
});
