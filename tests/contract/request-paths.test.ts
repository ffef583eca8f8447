import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";

const SERVICES = join(import.meta.dirname, "../../services");

/** The most files that a request may pass. A longer path wants another design, or a reason in an ADR. */
const FILES_MAX: Readonly<Record<string, number>> = {
  "Read a run": 6,
  "Revoke an API key": 6,
  "Activate a workflow with a schedule": 12,
  "Find rows of a table": 16,
};

/**
 * The files that make a service's parts and hand them to its requests. A part is known here by its type alone, so
 * no import leads from the request to the part.
 */
const WIRING = ["context", "route-context", "routes/index", "service", "start-api", "parts"];

/** A request as ARCHITECTURE.md describes it. */
interface Path {
  readonly name: string;
  /** The number of files that the page tells. */
  readonly told: number;
  /** Below `services`, in the order of the page. */
  readonly files: readonly string[];
}

/** The list of `ARCHITECTURE.md`: an item's files, the first of each service with the service's name. */
function readPaths(): Path[] {
  const page = readFileSync(join(SERVICES, "../ARCHITECTURE.md"), "utf8");
  const items = page.matchAll(/^- \*\*(.+?)\*\* \((\d+) files\)\.((?:.+\n)+?)(?=- |\n)/gm);
  return [...items].map(([, name = "", told = "", text = ""]) => {
    let service = "";
    const files = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = ""]) => {
      const [, ofService] = /^(\w+\/src)\//.exec(file) ?? [];
      service = ofService ?? service;
      return ofService === undefined ? `${service}/${file}` : file;
    });
    return { name, told: Number(told), files };
  });
}

/** The files below `services` that a file imports, or starts as a thread; of an index what it exports. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(SERVICES, file), "utf8");
  const found = source.matchAll(/ (?:from |new URL\()"(\.[^"]+\.ts)"/g);
  return [...found].flatMap(([, to = ""]) => {
    const path = join(dirname(file), to);
    return path.endsWith("/index.ts") ? importsOf(path) : [path];
  });
}

function wiringOf(file: string): string[] {
  const [service = ""] = file.split("/");
  const names = WIRING.map((name) => `${service}/src/${name}.ts`);
  return names.filter((each) => existsSync(join(SERVICES, each)));
}

const paths = readPaths();

it("ARCHITECTURE.md has the path of each request", () => {
  expect(paths.map(({ name }) => name)).toEqual(Object.keys(FILES_MAX));
});

describe.each(paths)("$name", ({ name, told, files }) => {
  it("passes as many files as the page tells, and no more than it may", () => {
    expect(files.filter((file) => !existsSync(join(SERVICES, file)))).toEqual([]);
    expect(new Set(files).size).toBe(told);
    expect(told).toBeLessThanOrEqual(FILES_MAX[name] ?? 0);
  });

  it("comes from file to file without one that is not listed", () => {
    const reached = new Set(
      files.flatMap((file) => [file, ...wiringOf(file)]).flatMap((file) => importsOf(file)),
    );
    expect(files.filter((file) => !reached.has(file))).toEqual([]);
  });
});
