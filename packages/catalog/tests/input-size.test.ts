import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { checkInputs, findProviderAction, json, list } from "../src/index.ts";
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

  it("are contacts of SendGrid with their members, as its description says", () => {
    const upsert = findProviderAction("sendgrid.upsertContacts")?.action;
    if (upsert === undefined) throw new Error("no action");
    const said = upsert.inputs.find(({ key }) => key === "contacts")?.description;
    expect(said).toContain("contacts and their members are at most 10000 together");
    const contacts = (count: number) =>
      Array.from({ length: count }, () => ({ email: "a@b.example", first_name: "A", n: 1 }));
    expect(checkInputs(upsert, { contacts: contacts(2_500) })).toEqual([]);
    expect(checkInputs(upsert, { contacts: contacts(2_501) })).toEqual([
      { path: ["contacts"], message: expect.stringMatching(/^is too large/) },
    ]);
    const small = Array.from({ length: 5_000 }, () => ({ email: "a@b.example" }));
    expect(checkInputs(upsert, { contacts: small })).toEqual([]);
  });

  it("don't count what may hold anything", () => {
    const fields = Object.fromEntries(many(50_000).map((value, index) => [`k${index}`, value]));
    expect(checkInputs(action, { fields, anything: many(50_000) })).toEqual([]);
  });
});
