import { readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = join(import.meta.dirname, "../../../../docs/quickstart.md");

/** A code block of the quickstart: what stands behind the fence, and the code. */
export interface PageBlock {
  language: string;
  code: string;
}

/** All of its blocks, in order. */
export function readQuickstart(): PageBlock[] {
  const page = readFileSync(PAGE, "utf8");
  return Array.from(page.matchAll(/^```(.*)\n([^]*?)\n```$/gm), ([, language = "", code = ""]) => ({
    language,
    code,
  }));
}

/** A way through the page in one language, and how its blocks become a program that prints `mark` after each. */
export interface Journey {
  language: string;
  /** What runs the file, and how it tells that it is there. */
  command: string;
  versionArgs: readonly string[];
  file: string;
  printMark: (mark: string) => string;
}

export const JOURNEYS: readonly Journey[] = [
  {
    language: "sh",
    command: "bash",
    versionArgs: ["--version"],
    file: "quickstart.sh",
    printMark: (mark) => `printf '%s' '${mark}'`,
  },
  {
    language: "python",
    command: "python3",
    versionArgs: ["--version"],
    file: "quickstart.py",
    printMark: (mark) => `print("${mark}", end="", flush=True)`,
  },
  {
    language: "ts",
    command: process.execPath,
    versionArgs: ["--version"],
    file: "quickstart.ts",
    printMark: (mark) => `process.stdout.write("${mark}");`,
  },
];

/** What a block of a journey prints: the answer that the page shows behind it, if any. */
export interface JourneyStep {
  code: string;
  shown: string | undefined;
}

/** The blocks of a language, each with the answer that stands behind it and its translations. */
export function stepsOf(blocks: readonly PageBlock[], language: string): JourneyStep[] {
  return blocks.flatMap((block, at) => {
    if (block.language !== language) return [];
    const next = blocks
      .slice(at + 1)
      .find((other) => other.language === language || other.language === "json");
    return [{ code: block.code, shown: next?.language === "json" ? next.code : undefined }];
  });
}

/**
 * Where an answer is not what the page shows, as paths. The page may leave members of objects out, and has `…` for
 * what differs from call to call.
 */
export function differencesOf(shown: unknown, answer: unknown, path = "answer"): string[] {
  if (typeof shown === "string" && shown.includes("…")) {
    const parts = shown.split("…").map((part) => part.replaceAll(/[^\w ]/g, "\\$&"));
    const fits = typeof answer === "string" && new RegExp(`^${parts.join(".+")}$`).test(answer);
    return fits ? [] : [path];
  }
  if (typeof shown !== "object" || shown === null) return Object.is(shown, answer) ? [] : [path];
  if (typeof answer !== "object" || answer === null) return [path];
  if (Array.isArray(shown) !== Array.isArray(answer)) return [path];
  const hasLength = Array.isArray(shown) && Array.isArray(answer);
  if (hasLength && shown.length !== answer.length) return [`${path}.length`];
  const members = new Map<string, unknown>(Object.entries(answer));
  return Object.entries(shown).flatMap(([key, value]) =>
    differencesOf(value, members.get(key), `${path}.${key}`),
  );
}
