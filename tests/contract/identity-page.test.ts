import { readFile } from "node:fs/promises";
import { expect, it } from "@jest/globals";
import { callersOf, TOKEN_AUDIENCES } from "@workflow/rpc";

const PAGE = new URL("../../docs/identity.md", import.meta.url);
/** A row of the table: the process, its private key, and the issuers whose tokens it accepts. */
const ROW = /^\| (\w+) +\| (its own|–) +\| ([a-z, ]+?) +\|$/gm;

/** An operator who follows the page has services that accept the tokens of those who call them, and of nobody else. */
it("docs/identity.md names the issuers that each service accepts", async () => {
  const rows = [...(await readFile(PAGE, "utf8")).matchAll(ROW)];
  const written = Object.fromEntries(rows.map(([, process, , issuers]) => [process, issuers]));
  const needed = TOKEN_AUDIENCES.map((service) => [service, callersOf(service).join(", ")]);
  expect(written).toEqual(Object.fromEntries(needed));
});

it("docs/identity.md gives a private key to each service that calls another one", async () => {
  const rows = [...(await readFile(PAGE, "utf8")).matchAll(ROW)];
  const callers = new Set<string | undefined>(TOKEN_AUDIENCES.flatMap(callersOf));
  const wrong = rows.filter(([, process, key]) => (key === "its own") !== callers.has(process));
  expect(wrong.map(([, process]) => process)).toEqual([]);
});
