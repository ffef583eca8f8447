/**
 * Decisions and ADRs in comments are for people who work on the services; readers of the page have neither.
 */
const CITATIONS = / \((?:D\d+[a-z]?|ADR \d+)(?:, (?:D\d+[a-z]?|ADR \d+))*\)/g;

/** A comment as HTML paragraphs. */
export function paragraphs(comment: string): string {
  return comment
    .split(/\n[ \t]*\n/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("\n");
}

/** A comment as HTML within a line; text in backticks is code. */
export function inline(comment: string): string {
  const text = comment.replaceAll(/\s+/g, " ").trim().replaceAll(CITATIONS, "");
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** The text as it stands, in HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
