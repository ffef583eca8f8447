import { readFile } from "node:fs/promises";
import { expect, it } from "@jest/globals";
import { settingsTable } from "@workflow/service";
import { SETTINGS } from "../../deploy/dev/src/setting-catalogue.ts";

it("docs/ops/settings.md holds the table of the settings catalogue", async () => {
  const file = new URL("../../docs/ops/settings.md", import.meta.url);
  expect(await readFile(file, "utf8")).toContain(settingsTable(SETTINGS).trim());
});
