import { describe, expect, it } from "@jest/globals";
import { ACTIONS } from "../src/index.ts";
import { actionStep, stepProblems } from "./definition.ts";

const hash = { algorithm: "sha256", text: "x" };
const now = "2026-01-31T09:00:00Z";

describe("is accepted", () => {
  it.each<[string, object]>([
    ["table.query", { tableId: "t" }],
    [
      "table.query",
      {
        tableId: "t",
        filter: { c: { values: [1] } },
        sort: "c",
        order: "desc",
        limit: 100,
        offset: 0,
      },
    ],
    ["table.query", { tableId: "{{input.t}}", filter: "{{input.f}}", limit: "{{input.n}}" }],
    ["table.insert", { tableId: "t", data: { c: "{{input.c}}" } }],
    ["table.update", { tableId: "t", rowId: "r", data: "{{input.row}}", merge: true }],
    ["table.delete", { tableId: "t", rowId: "{{input.r}}" }],
    ["json.parse", { text: "{{input.text}}" }],
    ["json.stringify", { value: null, indent: 2 }],
    ["json.stringify", { value: "{{input}}", indent: "{{input.indent}}" }],
    ["datetime.format", { value: now, format: "yyyy", timezone: "Asia/Kathmandu" }],
    ["datetime.format", { value: 0, format: "{{input.f}}", timezone: "{{input.zone}}" }],
    ["datetime.add", { value: "{{input.at}}", amount: -1.5, unit: "months" }],
    ["datetime.diff", { from: 0, to: now, unit: "{{input.unit}}" }],
    ["crypto.hash", { ...hash, encoding: "base64url" }],
    ["crypto.hmac", { ...hash, algorithm: "{{input.a}}", key: "{{secrets.KEY}}" }],
    ["workflow.respond", { output: null }],
    ["workflow.respond", { output: { a: ["{{input}}"] } }],
    ["workflow.respond", { output: 1, newer: "{{input.x}}" }],
  ])("%s with %j", (action, config) => {
    expect(stepProblems(actionStep("s", action, config))).toEqual([]);
  });
});

describe("is refused with the input and what would be right", () => {
  it.each<[string, object, string]>([
    ["table.query", {}, "tableId: is required and must be a string"],
    ["table.query", { tableId: "t", limit: 0 }, "limit: must be at least 1"],
    ["table.query", { tableId: "t", limit: 101 }, "limit: must be at most 100"],
    ["table.query", { tableId: "t", order: "up" }, 'order: must be "asc" or "desc" (or a template'],
    ["table.query", { tableId: "t", filter: [] }, "filter: must be an object, not an array"],
    ["table.insert", { tableId: "t" }, "data: is required and must be an object (or a template"],
    ["table.update", { tableId: "t", data: {} }, "rowId: is required and must be a string"],
    [
      "table.update",
      { tableId: "t", rowId: "r", data: {}, merge: "y" },
      "merge: must be a boolean",
    ],
    ["table.delete", { tableId: "t" }, "rowId: is required and must be a string"],
    ["json.parse", {}, "text: is required and must be a string"],
    ["json.stringify", {}, "value: is required; it may be any JSON value"],
    ["json.stringify", { value: 1, indent: 11 }, "indent: must be at most 10"],
    ["datetime.format", { value: now }, "format: is required and must be a string"],
    ["datetime.format", { format: "y" }, "value: must be an ISO timestamp, or a number of"],
    [
      "datetime.format",
      { value: now, format: "y", timezone: "Mars/Olympus" },
      "timezone: must be an IANA time zone such as Europe/Paris or UTC, or a template",
    ],
    ["datetime.add", { value: now, unit: "days" }, "amount: is required and must be a number"],
    [
      "datetime.add",
      { value: now, amount: 1, unit: "day" },
      'unit: must be "milliseconds", "seconds", "minutes", "hours", "days", "weeks", "months" or "years"',
    ],
    ["datetime.diff", { from: now, unit: "days" }, "to: must be an ISO timestamp, or a number of"],
    [
      "crypto.hash",
      { ...hash, algorithm: "crc32" },
      'algorithm: must be "sha256", "sha384", "sha512", "sha1" or "md5"',
    ],
    [
      "crypto.hash",
      { ...hash, encoding: "utf8" },
      'encoding: must be "hex", "base64" or "base64url"',
    ],
    ["crypto.hmac", hash, "key: is required and must be a string"],
    ["workflow.respond", {}, "output: is required; it may be any JSON value"],
  ])("%s with %j", (action, config, problem) => {
    expect(stepProblems(actionStep("s", action, config))).toEqual([
      expect.stringContaining(`steps.0.config.${problem}`),
    ]);
  });
});

it("every action says in words what it is", () => {
  for (const { id, title, description } of ACTIONS) {
    expect(id).toMatch(/^[a-z]+\.[a-z]+$/);
    expect([title, description].every((text) => text.length > 3)).toBe(true);
  }
  expect(new Set(ACTIONS.map(({ id }) => id)).size).toBe(ACTIONS.length);
});
