import { describe, expect, it } from "@jest/globals";
import { Turns } from "../src/turns.ts";

describe("turns", () => {
  const never = new AbortController().signal;

  it("go round among the tenants that wait, in order within each", async () => {
    const turns = new Turns({ perTenant: 5, total: 1 });
    const served: string[] = [];
    const first = await turns.take("x", never);
    const others = ["a1", "a2", "a3", "b1", "c1", "c2"].map(async (name) => {
      const giveBack = await turns.take(name.slice(0, 1), never);
      served.push(name);
      giveBack();
    });
    first();
    await Promise.all(others);
    expect(served).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
  });

  it("of a tenant that has its share are left out", async () => {
    const turns = new Turns({ perTenant: 1, total: 2 });
    const a = await turns.take("a", never);
    const x = await turns.take("x", never);
    const served: string[] = [];
    const waiting = ["a", "b"].map(async (name) => {
      await turns.take(name, never);
      served.push(name);
    });
    x();
    await waiting[1];
    expect(served).toEqual(["b"]);
    a();
    await waiting[0];
  });

  it("that are given up take no place", async () => {
    const turns = new Turns({ perTenant: 1 });
    const giveBack = await turns.take("a", never);
    const giveUp = new AbortController();
    const given = turns.take("a", giveUp.signal);
    const next = turns.take("a", never);
    giveUp.abort(new Error("given up"));
    await expect(given).rejects.toThrow("given up");
    giveBack();
    (await next)();
  });

  it("may take more than one place, and are not overtaken by smaller ones meanwhile", async () => {
    const turns = new Turns({ perTenant: 8, total: 10 });
    const small = await turns.take("a", never, 4);
    const other = await turns.take("b", never, 4);
    const served: string[] = [];
    const large = turns.take("c", never, 8).then((giveBack) => {
      served.push("large");
      return giveBack;
    });
    const late = turns.take("d", never, 1).then(() => served.push("late"));
    small();
    await Promise.resolve();
    expect(served).toEqual([]);
    other();
    (await large)();
    await late;
    expect(served).toEqual(["large", "late"]);
  });

  it("that are given up hold up nobody", async () => {
    const turns = new Turns({ perTenant: 8, total: 10 });
    await turns.take("a", never, 4);
    const giveUp = new AbortController();
    const large = turns.take("b", giveUp.signal, 8);
    const small = turns.take("c", never, 1);
    giveUp.abort(new Error("given up"));
    await expect(large).rejects.toThrow("given up");
    (await small)();
  });

  it("give what there is to those who ask for more", async () => {
    const turns = new Turns({ perTenant: 8, total: 10 });
    const all = await turns.take("a", never, 1_000);
    expect(turns.isAtLimit("a")).toBe(true);
    expect(turns.isAtLimit("b", 1_000)).toBe(false);
    all();
    expect(turns.isAtLimit("a", 1_000)).toBe(false);
  });

  it("are had at once past a tenant at its own limit", async () => {
    const turns = new Turns({ perTenant: 1, total: 2 });
    const a = await turns.take("a", never);
    const secondOfA = turns.take("a", never);

    const b = turns.takeNow("b");

    expect(b).not.toBeNull();
    a();
    (await secondOfA)();
  });

  it("are not had at once past a tenant that waits for more room", async () => {
    const turns = new Turns({ perTenant: 4, total: 4 });
    const a = await turns.take("a", never, 2);
    const large = turns.take("b", never, 4);

    expect(turns.takeNow("c")).toBeNull();

    a();
    (await large)();
    expect(turns.takeNow("c")).not.toBeNull();
  });
});
