import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "@jest/globals";
import { renderProvidersPage } from "../support/providers-page.ts";

const PAGE = new URL("../../docs/providers.md", import.meta.url);

it("docs/providers.md tells what the manifests say", async () => {
  const page = await renderProvidersPage();
  // `UPDATE_PROVIDERS_DOC=1 npm test -- tests/contract/providers-doc` renews the page after a change.
  if (process.env["UPDATE_PROVIDERS_DOC"] === "1") await writeFile(PAGE, page);
  expect(await readFile(PAGE, "utf8")).toBe(page);
});
