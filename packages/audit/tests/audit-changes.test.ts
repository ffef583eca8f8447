import { describe, expect, it } from "@jest/globals";
import { changesBetween, itemChanges, toAuditEvent, unchanged } from "../src/index.ts";
import type { AuditChanges } from "../src/index.ts";

function recorded(changes: AuditChanges): Record<string, unknown> {
  const identity = { companyId: "c", principal: { type: "user", id: "u" } };
  const entry = { action: "a.b", resourceType: "a", resourceId: "1", changes } as const;
  return toAuditEvent({ identity, requestId: "r", client: {} }, entry).data.changes;
}

describe("changes for the audit log", () => {
  it("are the fields that differ, null where one is absent", () => {
    expect(
      changesBetween({ a: 1, b: "x", c: null, gone: true }, { a: 1, b: "y", c: undefined, d: 2 }),
    ).toEqual({
      b: { from: "x", to: "y" },
      gone: { from: true, to: null },
      d: { from: null, to: 2 },
    });
    expect(unchanged({ key: "K" })).toEqual({ key: { from: "K", to: "K" } });
  });

  it("tell things of a list apart by id, and cut texts and lists short", () => {
    const before = new Map([
      ["a", "1"],
      ["b", "1"],
      ["c", "1"],
    ]);
    const after = new Map([
      ["b", "2"],
      ["c", "1"],
      ["d", "1"],
    ]);
    expect(itemChanges(before, after)).toEqual({ added: ["d"], removed: ["a"], modified: ["b"] });
    const many = new Map(Array.from({ length: 1_000 }, (_, index) => [`step${index}`, ""]));
    expect(itemChanges(new Map(), many)).toMatchObject({ added: { length: 20 } });
    const long = "x".repeat(10_000);
    const change = changesBetween({ text: `${long}a` }, { text: `${long}b` })["text"];
    expect(JSON.stringify(change).length).toBeLessThan(1_100);
  });

  it("are never more than 16 KiB, whatever the names and values", () => {
    const texts = [
      "x".repeat(5_000),
      "€".repeat(5_000),
      "\u{1f600}".repeat(5_000),
      "\0".repeat(5_000),
    ];
    for (const text of texts) {
      const fields = Object.fromEntries(
        Array.from({ length: 1_000 }, (_, index) => [`${text.slice(0, 600)}${index}`, text]),
      );
      for (const changes of [changesBetween({}, fields), unchanged(fields)]) {
        const kept = recorded(changes);
        expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(16 * 1024);
        expect(Object.keys(kept).length).toBeGreaterThan(0);
      }
    }
  });
});
