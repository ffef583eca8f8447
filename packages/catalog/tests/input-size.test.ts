import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { checkInputs, json, list } from "../src/index.ts";
import type { ActionManifest } from "../src/index.ts";

const action: ActionManifest = {
  name: "send",
  title: "Send",
  description: "Sends.",
  docs: "https://docs.example",
  inputs: [
    list("items"),
    list("rows", { of: z.array(z.number()) }),
    json("fields"),
    json("anything", { schema: z.unknown() }),
  ],
  outputs: [],
  request: { method: "POST", path: "/send" },
  example: {},
};

const many = (count: number): string[] => Array.from({ length: count }, () => "x");

describe("inputs that are looked at item by item", () => {
  it("have at most 10,000 entries together", () => {
    expect(checkInputs(action, { items: many(10_000) })).toEqual([]);
    expect(checkInputs(action, { items: many(10_001) })).toEqual([
      { path: ["items"], message: expect.stringContaining("at most 10000 entries together") },
    ]);
    const rows = Array.from({ length: 60 }, () => Array.from({ length: 100 }, () => 1));
    expect(checkInputs(action, { rows })).toEqual([]);
    expect(checkInputs(action, { items: many(5_000), rows })).toEqual([
      { path: ["rows"], message: expect.stringMatching(/^is too large/) },
    ]);
  });

  it("don't count what may hold anything", () => {
    const fields = Object.fromEntries(many(50_000).map((value, index) => [`k${index}`, value]));
    expect(checkInputs(action, { fields, anything: many(50_000) })).toEqual([]);
  });
});
