import { describe, expect, it } from "@jest/globals";
import { firstIdAt, idTimestamp, isId, newId } from "../src/index.ts";

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
