import type { SiteContents, SitePage } from "./site-contents.ts";

/** The paths of the parts of a documentation page. */
export interface SitePageParts {
  contents: SiteContents;
  stylePath: string;
  /** The search script. */
  scriptPath: string;
  /** The script that shows results. */
  searchModulePath: string;
  /** The text that is searched. */
  searchPath: string;
  /** The four references, as HTML. */
  references: string;
}

/** The parts of a page before and after its text. */
export interface PageFrame {
  before: string;
  after: string;
}

/** Frames the text of a page with the navigation, the search and the links to the references. */
export function framePage(page: SitePage, parts: SitePageParts): PageFrame {
  const { contents, stylePath, scriptPath, searchModulePath, searchPath, references } = parts;
  const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} – Workflow service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
<script type="module" src="${scriptPath}"></script>
</head>
<body>
<a class="skip" href="#site-main">Skip to the text</a>
<header>
<button class="menu" type="button" popovertarget="site-contents">Contents</button>
${references}
<form class="search" role="search" hidden data-search-module="${searchModulePath}" data-text="${searchPath}">
<input type="search" name="q" aria-label="Search the documentation" aria-keyshortcuts="/" aria-controls="site-results" placeholder="Search ( / )" autocomplete="off" spellcheck="false">
<div class="results" id="site-results" hidden>
<p role="status"></p>
<ol></ol>
</div>
</form>
</header>
<div class="columns">
<nav class="contents" id="site-contents" popover aria-label="Contents">
${contents.sections.map(({ title, paths }) => navigationOf(title, paths, page, contents)).join("\n")}
</nav>
<main id="site-main" tabindex="-1">
<article>
`;
  const after = `</article>
<footer>From <code>${escapeHtml(page.source)}</code></footer>
</main>
</div>
</body>
</html>
`;
  return { before, after };
}

function navigationOf(
  title: string,
  paths: readonly string[],
  current: SitePage,
  { pages }: SiteContents,
): string {
  const members = pages.filter(({ path }) => paths.includes(path));
  const label = `site-section-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  return `<p id="${label}">${escapeHtml(title)}</p>
<ul aria-labelledby="${label}">
${members.map((page) => entryOf(page, current)).join("\n")}
</ul>`;
}

/** The open page shows its sections too. */
function entryOf(page: SitePage, current: SitePage): string {
  const link = (mark: string) =>
    `<a href="${addressOfPage(page.path)}"${mark}>${escapeHtml(page.title)}</a>`;
  if (page.path !== current.path) return `<li>${link("")}</li>`;
  if (page.headings.length === 0) return `<li>${link(' aria-current="page"')}</li>`;
  const sections = page.headings.map(
    ({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<li>${link(' aria-current="page"')}
<ul>
${sections.join("\n")}
</ul></li>`;
}

/** The path of a page, from the root. */
export function addressOfPage(path: string): string {
  return path === "" ? "/docs" : `/docs/${path}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
