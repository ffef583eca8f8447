import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { createScope } from "../src/index.ts";

describe("a scope", () => {
  it("closes what it holds in the reverse order, one after the other, once", async () => {
    const closed: string[] = [];
    const scope = createScope();
    scope.defer(() => void closed.push("first"));
    const resource = scope.adopt({ name: "second" }, async ({ name }) => {
      await Promise.resolve();
      closed.push(name);
    });
    scope.defer(() => void closed.push("third"));

    await Promise.all([scope.close(), scope.close()]);

    expect(resource).toEqual({ name: "second" });
    expect(closed).toEqual(["third", "second", "first"]);
  });

  it("closes the rest when one fails", async () => {
    const closed: string[] = [];
    const scope = createScope();
    scope.defer(() => void closed.push("first"));
    scope.defer(async () => {
      throw new Error("stuck");
    });

    await expect(scope.close()).rejects.toThrow("stuck");

    expect(closed).toEqual(["first"]);
  });

  it("is closed when a guarded start fails half-way", async () => {
    const closed: string[] = [];
    const scope = createScope();

    const started = scope.guard(async () => {
      scope.defer(() => void closed.push("pool"));
      throw new Error("port taken");
    });

    await expect(started).rejects.toThrow("port taken");
    expect(closed).toEqual(["pool"]);
  });

  it("stays open after a guarded start that went well", async () => {
    const closed: string[] = [];
    const scope = createScope();
    scope.defer(() => void closed.push("pool"));

    expect(await scope.guard(async () => "running")).toBe("running");
    expect(closed).toEqual([]);
    await scope.close();
  });
});

describe("background work of a scope", () => {
  it("is ended, and waited for, when the scope closes, after what was opened later", async () => {
    const order: string[] = [];
    const scope = createScope();
    scope.defer(() => void order.push("opened first"));
    scope.background(async (signal) => {
      await once(signal, "abort");
      await new Promise(setImmediate);
      order.push("background ended");
    });
    scope.defer(() => void order.push("opened last"));

    await scope.close();

    expect(order).toEqual(["opened last", "background ended", "opened first"]);
  });

  it("fails the close when it fails", async () => {
    const scope = createScope();
    scope.background(async () => {
      throw new Error("stuck");
    });

    await expect(scope.close()).rejects.toThrow("stuck");
  });

  it("may be a loop, whose last round is waited for", async () => {
    const scope = createScope();
    const begun = Promise.withResolvers<void>();
    const order: string[] = [];
    scope.loop({
      name: "test",
      intervalMs: 3_600_000,
      logger: { error: () => {} },
      run: async (signal) => {
        begun.resolve();
        await once(signal, "abort");
        order.push("round ended");
      },
    });
    await begun.promise;

    await scope.close().then(() => order.push("closed"));

    expect(order).toEqual(["round ended", "closed"]);
  });
});
