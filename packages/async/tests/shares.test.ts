import { describe, expect, it } from "@jest/globals";
import { Shares } from "../src/index.ts";

function takeAll(shares: Shares, tenant: string): (() => void)[] {
  const taken: (() => void)[] = [];
  for (let next = shares.take(tenant); next !== null; next = shares.take(tenant)) taken.push(next);
  return taken;
}

describe("shares of places", () => {
  it("leave room for whoever comes: each newcomer gets half of what is free", () => {
    const shares = new Shares({ total: 1_000, perTenant: 1_000 });
    const held = ["a", "b", "c", "d"].map((tenant) => takeAll(shares, tenant).length);
    expect(held).toEqual([500, 250, 125, 63]);
    expect(shares.take("e")).not.toBeNull();
  });

  it("are no larger than the limit of each", () => {
    const shares = new Shares({ total: 1_000, perTenant: 10 });
    expect(takeAll(shares, "a")).toHaveLength(10);
    expect(takeAll(shares, "b")).toHaveLength(10);
  });

  it("can be taken several at a time, all or none", () => {
    const shares = new Shares({ total: 20, perTenant: 10 });
    const giveBack = shares.take("a", 7);
    expect(shares.take("a", 4)).toBeNull();
    expect(shares.take("a", 3)).not.toBeNull();
    giveBack?.();
    expect(shares.take("a", 7)).not.toBeNull();
  });

  it("can be taken again when they were given back, once each", () => {
    const shares = new Shares({ total: 4, perTenant: 4 });
    const [first, second] = takeAll(shares, "a");
    first?.();
    first?.();
    expect(takeAll(shares, "a")).toHaveLength(1);
    second?.();
    expect(shares.take("a")).not.toBeNull();
  });
});
