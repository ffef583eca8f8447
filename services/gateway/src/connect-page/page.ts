import { readFileSync } from "node:fs";

/** A file of the page. */
export interface Asset {
  contentType: string;
  text: string;
}

/** The page's files by their names below `/connect/assets/`. */
export const ASSETS: ReadonlyMap<string, Asset> = new Map([
  ["connect.js", { contentType: "text/javascript; charset=utf-8", text: read("connect.js") }],
  ["connect.css", { contentType: "text/css; charset=utf-8", text: read("connect.css") }],
]);

/**
 * The page where a person connects an account through the broker (D38). Everything in it is static
 * or escaped. Scripts and styles are files, so the policy allows none in the text.
 *
 * @param path of the page, below the gateway's root
 */
export function connectPage(path: string, providerName: string): string {
  const name = escapeHtml(providerName);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connect ${name}</title>
<link rel="stylesheet" href="/connect/assets/connect.css">
<script type="module" src="/connect/assets/connect.js"></script>
</head>
<body>
<h1>Connect ${name}</h1>
<p id="text" role="status">Continue to ${name} in a new tab and give access to your account there.</p>
<p><a id="link" href="${escapeHtml(path)}/go" target="_blank" rel="noopener noreferrer">Continue to ${name}</a></p>
<noscript><p>When the account is connected, <a href="${escapeHtml(path)}/done">go on here</a>.</p></noscript>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

function read(name: string): string {
  return readFileSync(new URL(`assets/${name}`, import.meta.url), "utf8");
}
