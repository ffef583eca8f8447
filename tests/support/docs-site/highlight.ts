import { createRequire } from "node:module";

/** What is used of highlight.js. Its own types bring those of browsers with them, into every file of the project. */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string }): { value: string };
}

const require = createRequire(import.meta.url);
const highlighter: Highlighter = require("highlight.js");

/**
 * Code as HTML, its words in elements with classes.
 *
 * @returns null when the language is none that is known
 */
export function highlight(code: string, language: string): string | null {
  if (highlighter.getLanguage(language) === undefined) return null;
  return highlighter.highlight(code, { language }).value;
}
