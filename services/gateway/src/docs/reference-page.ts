import { referencesNavigation } from "./references.ts";

/** The paths of the page's parts. */
export interface ReferencePageParts {
  /** Scalar, which shows the document. */
  scriptPath: string;
  /** The configuration of Scalar. */
  startPath: string;
  stylePath: string;
  /** The OpenAPI document. */
  descriptionPath: string;
}

/** The page that shows the description of the REST API, and lets people try it. */
export function referencePage(parts: ReferencePageParts): string {
  const { scriptPath, startPath, stylePath, descriptionPath } = parts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Workflow automation API: reference</title>
<link rel="icon" href="data:,">
<link rel="service-desc" type="application/vnd.oai.openapi+json;version=3.1" href="${descriptionPath}">
<link rel="stylesheet" href="${stylePath}">
<script src="${scriptPath}" defer></script>
<script type="module" src="${startPath}"></script>
</head>
<body>
${referencesNavigation("api", "page", descriptionPath)}
<noscript><p>This page needs scripts. The <a href="${descriptionPath}">OpenAPI document</a> says the same.</p></noscript>
<div id="reference" data-description="${descriptionPath}"></div>
</body>
</html>
`;
}
