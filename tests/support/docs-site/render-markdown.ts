import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { addressOfPage } from "../../../services/gateway/src/docs/site/site-page.ts";
import { highlight } from "./highlight.ts";
import { pathOfPage, resolveLink } from "./page-addresses.ts";

/** A part of a page that begins with a heading, as the search knows it. */
export interface PageSection {
  id: string;
  /** The level of its heading: 1 to 6. */
  level: number;
  heading: string;
  text: string;
}

/** A file as a page. */
export interface RenderedPage {
  title: string;
  html: string;
  sections: PageSection[];
  /**
   * The files that the page leads to, with the anchors there; an empty anchor stands for the whole file.
   */
  links: { file: string; fragment: string }[];
}

/** Languages whose neighbouring blocks say the same. */
const VARIANTS: Readonly<Record<string, string>> = {
  sh: "Shell",
  python: "Python",
  ts: "TypeScript",
};

// Tags of authors are text, and addresses of scripts are no links: both are the library's default.
const markdown = new MarkdownIt({ html: false });
const { escapeHtml } = markdown.utils;
markdown.renderer.rules["table_open"] = () => '<div class="table"><table>\n';
markdown.renderer.rules["table_close"] = () => "</table></div>\n";
for (const cell of ["th_open", "td_open"]) markdown.renderer.rules[cell] = alignedCell;
markdown.renderer.rules["fence"] = (tokens, at) => {
  const token = tokens[at];
  return token === undefined ? "" : codeBlock(token);
};
markdown.renderer.rules["image"] = () => {
  throw new Error("Pages have no images: say it in text.");
};

/**
 * Renders a Markdown file.
 * @param file its path from the root of the repository, which resolves links
 */
export function renderMarkdown(file: string, text: string): RenderedPage {
  const tokens = markdown.parse(text, {});
  const sections = nameHeadings(tokens);
  const links = resolveLinks(tokens, file);
  const [first] = sections;
  if (first?.level !== 1) throw new Error(`${file} does not begin with a heading.`);
  const html = markdown.renderer.render(joinVariants(tokens), markdown.options, {});
  return { title: first.heading, html, sections, links };
}

/** Renders a whole file of code. */
export function renderCode(file: string, text: string): RenderedPage {
  const extension = file.slice(file.lastIndexOf(".") + 1);
  const html = `<h1 id="source">${escapeHtml(file)}</h1>\n${preformatted(text, extension)}`;
  const section = { id: "source", level: 1, heading: file, text };
  return { title: file, html, sections: [section], links: [] };
}

/** Gives each heading the id that GitHub gives it, and gathers the text below it. */
function nameHeadings(tokens: readonly Token[]): PageSection[] {
  const slugger = new GithubSlugger();
  const sections: PageSection[] = [];
  for (const [at, token] of tokens.entries()) {
    const opening = tokens[at - 1];
    if (opening?.type === "heading_open") {
      const heading = wordsOf(token);
      const id = slugger.slug(heading);
      const level = Number(opening.tag.slice(1));
      opening.attrSet("id", id);
      if (level > 1) token.children?.push(permalink(id));
      sections.push({ id, level, heading, text: "" });
      continue;
    }
    const section = sections.at(-1);
    if (section !== undefined) section.text += ` ${wordsOf(token)}`;
  }
  for (const section of sections) section.text = section.text.replaceAll(/\s+/g, " ").trim();
  return sections;
}

/** The text of a token that a reader sees. */
function wordsOf(token: Token): string {
  if (token.type === "fence" || token.type === "code_block") return token.content;
  return (token.children ?? [])
    .map(({ type, content }) => (type === "softbreak" ? " " : content))
    .join("");
}

function permalink(id: string): Token {
  const link = new MarkdownIt.Token("html_inline", "", 0);
  link.content = ` <a class="permalink" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
  return link;
}

function resolveLinks(tokens: Token[], file: string): RenderedPage["links"] {
  const links: RenderedPage["links"] = [];
  for (const { children } of tokens) {
    for (const [at, token] of (children ?? []).entries()) {
      if (token.type !== "link_open") continue;
      const target = resolveLink(String(token.attrGet("href")), file);
      if (target.kind === "elsewhere") token.attrSet("rel", "noopener noreferrer");
      if (target.kind === "repository") {
        const close = (children ?? []).slice(at).find(({ type }) => type === "link_close");
        for (const tag of [token, close]) if (tag !== undefined) tag.tag = "span";
        token.attrs = [["title", `In the repository: ${target.file}`]];
      }
      if (target.kind !== "page") continue;
      links.push({ file: target.file, fragment: target.fragment });
      const anchor = target.fragment === "" ? "" : `#${target.fragment}`;
      const isHere = target.file === file && anchor !== "";
      token.attrSet("href", (isHere ? "" : addressOfPage(pathOfPage(target.file))) + anchor);
    }
  }
  return links;
}

/** Joins neighbouring blocks of several languages into one, from which a reader chooses. */
function joinVariants(tokens: Token[]): Token[] {
  const joined: Token[] = [];
  let count = 0;
  for (let at = 0; at < tokens.length;) {
    const blocks = variantsFrom(tokens, at);
    const [first] = blocks;
    if (first === undefined || blocks.length < 2) {
      joined.push(...tokens.slice(at, (at += 1)));
      continue;
    }
    count += 1;
    first.type = "html_block";
    first.content = chooserOf(blocks, `variants-${count}`);
    joined.push(first);
    at += blocks.length;
  }
  return joined;
}

function variantsFrom(tokens: Token[], start: number): Token[] {
  const blocks: Token[] = [];
  for (const token of tokens.slice(start)) {
    const isNew = !blocks.some(({ info }) => info === token.info);
    if (token.type !== "fence" || VARIANTS[token.info] === undefined || !isNew) break;
    blocks.push(token);
  }
  return blocks;
}

function chooserOf(blocks: readonly Token[], name: string): string {
  const choices = blocks.map(({ info }, index) => {
    const checked = index === 0 ? " checked" : "";
    return `<input type="radio" name="${name}" id="${name}-${info}" value="${info}"${checked}><label for="${name}-${info}">${VARIANTS[info]}</label>`;
  });
  return `<fieldset class="variants"><legend>Language</legend>
${choices.join("\n")}
${blocks.map(codeBlock).join("")}</fieldset>
`;
}

/** A class gives each cell its alignment: the policy of the pages forbids styles in cells. */
function alignedCell(tokens: readonly Token[], at: number): string {
  const { tag = "td", attrs = [] } = tokens[at] ?? {};
  const [, style] = attrs?.find(([name]) => name === "style") ?? [];
  return style === "text-align:right" ? `<${tag} class="right">` : `<${tag}>`;
}

/** The first word behind the fence is the language. */
function codeBlock({ content, info }: Token): string {
  return preformatted(content, info.split(" ")[0] ?? "");
}

function preformatted(code: string, language: string): string {
  const html = highlight(code, language) ?? escapeHtml(code);
  return `<pre><code>${html}</code></pre>\n`;
}
