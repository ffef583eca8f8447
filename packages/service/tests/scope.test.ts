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
