import { describe, expect, it } from "@jest/globals";
import { mayDecide } from "../src/operations/approvers.ts";

const user = (id: string, roles: string[] = []) => ({ type: "user" as const, id, roles });

describe("an approval", () => {
  it.each([
    ["nobody is named", null, user("u1"), true],
    ["the lists are empty", { users: [], roles: [] }, user("u1"), true],
    ["the user is named", { users: ["u1"], roles: [] }, user("u1"), true],
    ["another user is named", { users: ["u2"], roles: [] }, user("u1"), false],
    ["the user has a named role", { users: ["u2"], roles: ["owner"] }, user("u1", ["owner"]), true],
    ["the user has another role", { users: [], roles: ["owner"] }, user("u1", ["viewer"]), false],
    [
      "a key acts for the company",
      { users: ["u2"], roles: [] },
      { type: "api_key" as const, id: "k", roles: [] },
      true,
    ],
    [
      "a token does, too",
      { users: ["u2"], roles: [] },
      { type: "token" as const, id: "t", roles: [] },
      true,
    ],
  ])("when %s may be decided: %j %j %s", (_when, approvers, decider, expected) => {
    expect(mayDecide(approvers, decider)).toBe(expected);
  });
});
