import { writeFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { OPERATIONS, ROUTES } from "@workflow/service-gateway/routes";
import { EXAMPLES_FILE, readExamples } from "../support/description/description.ts";
import type { Told } from "../support/description/description.ts";
import { withoutTimes } from "../support/story/as-shown.ts";
import { tellStory } from "../support/story/tell-story.ts";

/** What the story cannot tell of, and why. */
const UNTOLD: Readonly<Record<string, string>> = {
  listBankAccounts: "takes a bank whose tokens come from its own pages",
};

/** Played on a real system: each request of it has to succeed. */
let told: Told[];

beforeAll(async () => {
  told = await tellStory();
});

describe("the examples of the description", () => {
  it("are one story that the system has just told again", async () => {
    // `UPDATE_EXAMPLES=1 npm test -- tests/contract/examples` writes it down, `UPDATE_OPENAPI=1` then renews the description.
    const text = `${JSON.stringify(told, null, 2)}\n`;
    if (process.env["UPDATE_EXAMPLES"] === "1") await writeFile(EXAMPLES_FILE, text);
    expect(withoutTimes(told)).toEqual(withoutTimes(await readExamples()));
  });

  it("leave out no operation without a reason", () => {
    const names = new Set(told.map(({ operationId }) => operationId));
    const untold = Object.keys(OPERATIONS).filter((each) => !names.has(each));
    expect(untold).toEqual(Object.keys(UNTOLD));
    expect(names.size).toBe(ROUTES.length - untold.length);
  });
});
