import { createRequire } from "node:module";

/**
 * The parts of highlight.js that the site uses. Its own types would bring those of browsers into every file of the
 * project.
 */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string }): { value: string };
}

const require = createRequire(import.meta.url);
const highlighter: Highlighter = require("highlight.js");

/**
 * Code as HTML, its words in elements with classes.
 * @returns null for an unknown language
 */
export function highlight(code: string, language: string): string | null {
  if (highlighter.getLanguage(language) === undefined) return null;
  return highlighter.highlight(code, { language }).value;
}
