import { describe, expect, it } from "@jest/globals";
import { findProvider } from "@workflow/catalog";
import type { ConnectionAccess, ProviderManifest } from "@workflow/catalog";
import { keptScrubbers, scrubberOf } from "../src/provider-http/credential-scrubber.ts";
import { withoutCredentials } from "../src/actions/call-failure.ts";

const MASK = "••••";
const stripe = manifest("stripe");

function manifest(id: string): ProviderManifest {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return provider;
}

function accessOf(accessToken: string): ConnectionAccess {
  return { fields: {}, credentials: { accessToken } };
}

function refusal(message: string, code: string | null) {
  return {
    status: 400,
    message,
    code,
    retryable: false,
    retryAfterMs: null,
    limited: false,
    badCredentials: false,
    expired: false,
    refusal: null,
  };
}

describe("scrubbers of connections", () => {
  it("are prepared once something is looked at, and a bounded number of them is kept", async () => {
    const before = keptScrubbers().count;
    for (let index = 0; index < 600; index += 1) {
      scrubberOf(stripe, accessOf(`sk_never_used_${index}`));
    }
    expect(keptScrubbers().count).toBe(before);
    for (let index = 0; index < 600; index += 1) {
      const token = `sk_live_${index}_4eC39`;
      const { json } = scrubberOf(stripe, accessOf(token));
      expect(await json(`a ${token} b`)).toBe(`a ${MASK} b`);
    }
    expect(keptScrubbers().count).toBeLessThanOrEqual(500);
    expect(keptScrubbers().bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  });

  it("count with the length of the keys, which a tenant chooses", async () => {
    for (let index = 0; index < 40; index += 1) {
      await scrubberOf(stripe, accessOf(`${index}-${"k".repeat(8_000)}`)).json("nothing");
    }
    expect(keptScrubbers().count).toBeLessThan(40);
    expect(keptScrubbers().bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  });

  it("are another's where the credentials have changed", async () => {
    const [old, renewed] = [accessOf("sk_old_4eC39Hq"), accessOf("sk_new_7dc9Lyj")];
    const text = "sk_old_4eC39Hq sk_new_7dc9Lyj";
    expect(await scrubberOf(stripe, old).json(text)).toBe(`${MASK} sk_new_7dc9Lyj`);
    expect(await scrubberOf(stripe, renewed).json(text)).toBe(`sk_old_4eC39Hq ${MASK}`);
  });
});

describe("a provider's words, which are cut", () => {
  const key = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";

  it.each([0, 70, 95, 99, 100, 970, 995, 999])(
    "have no part of a credential that begins at character %i",
    async (at) => {
      const words = `${".".repeat(at)}${key} and ${"more words ".repeat(400_000)}`;
      const scrubber = scrubberOf(stripe, accessOf(key));
      const { message, code } = await withoutCredentials(refusal(words, words), scrubber);
      for (const text of [message, code ?? ""]) expect(text).not.toMatch(/sk_l|live|4eC3/);
      expect(message.length).toBeLessThanOrEqual(1_000);
      expect(code?.length).toBeLessThanOrEqual(100);
    },
  );

  it("are not longer looked at than they are kept", async () => {
    // Each sign of it begins the key in several forms: all of it would be 12 MB of them.
    const words = "%25".repeat(4 * 1024 * 1024);
    const scrubber = scrubberOf(stripe, accessOf(`${"%%%%".repeat(50)}x`));
    const { message } = await withoutCredentials(refusal(`No. ${words}`, null), scrubber);
    expect(message.length).toBeLessThanOrEqual(1_000);
    expect(message).not.toContain("%25%25");
  });
});
