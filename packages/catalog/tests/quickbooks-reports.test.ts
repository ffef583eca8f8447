import { describe, expect, it } from "@jest/globals";
import { conditionHolds, findProviderAction } from "../src/index.ts";
import { REPORT_TYPES } from "../src/providers/quickbooks/report-types.ts";

const found = findProviderAction("quickbooks.runReport");
if (found === undefined) throw new Error("no quickbooks.runReport");
const { action } = found;
const parameters = action.inputs.filter(({ key }) => key !== "reportType");

describe("quickbooks.runReport", () => {
  it("has thirty reports, by the names of their paths, and gives Header, Columns and Rows", () => {
    const ids = action.inputs.find(({ key }) => key === "reportType")?.options?.map(({ id }) => id);
    expect(ids).toHaveLength(30);
    expect(new Set(ids).size).toBe(30);
    expect(ids?.every((id) => /^[A-Z][A-Za-z]+$/.test(id))).toBe(true);
    expect(action.outputs).toEqual(["Header", "Columns", "Rows"]);
  });

  it.each(REPORT_TYPES)(
    "$id: shows its own parameters and no others",
    ({ id, parameters: own }) => {
      const shown = parameters.filter(
        ({ visibleWhen }) =>
          visibleWhen !== undefined && conditionHolds(visibleWhen, { reportType: id }) === true,
      );
      expect(shown.map(({ key }) => key).toSorted()).toEqual([...new Set(own)].toSorted());
    },
  );

  it("has no parameter that no report takes", () => {
    const taken = new Set(REPORT_TYPES.flatMap((report) => report.parameters));
    expect(parameters.map(({ key }) => key).filter((key) => !taken.has(key))).toEqual([]);
  });
});
