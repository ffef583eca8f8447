import { describe, expect, it } from "@jest/globals";
import { derivedId, firstIdAt, idTimestamp, isId, newId } from "../src/index.ts";

describe("the first id of a moment", () => {
  it("has the form of one and is above those of earlier moments only", () => {
    for (let count = 0; count < 100; count++) {
      const id = newId("run_");
      const moment = idTimestamp(id);
      const first = firstIdAt("run_", moment);
      expect(isId("run_", first)).toBe(true);
      expect(first <= id).toBe(true);
      expect(firstIdAt("run_", new Date(moment.getTime() + 1)) > id).toBe(true);
    }
  });

  it("exists for moments that no id can have, too", () => {
    expect(firstIdAt("", new Date(-1))).toBe("0".repeat(26));
    expect(firstIdAt("", new Date(8.64e15))).toBe(`7zzzzzzzzz${"0".repeat(16)}`);
  });
});

describe("an id that follows from a moment and a text", () => {
  const moment = new Date("2026-01-02T03:04:05.678Z");

  it("has the form of one, is of its moment, and is the same for ever", () => {
    const id = derivedId("evt_", moment, "workflow.started run_1");
    expect(id).toBe("evt_01kdyak3seemr8j70sken6c0s6");
    expect(isId("evt_", id)).toBe(true);
    expect(idTimestamp(id)).toEqual(moment);
  });

  it("is another for another text or another moment", () => {
    const later = new Date(moment.getTime() + 1);
    const ids = [derivedId("", moment, "a"), derivedId("", moment, "b"), derivedId("", later, "a")];
    expect(new Set(ids).size).toBe(3);
  });
});
