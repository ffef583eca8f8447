/** The path and the name of each reference. */
const REFERENCES = {
  guide: ["/docs", "Guide"],
  api: ["/docs/api", "REST API"],
  grpc: ["/docs/grpc", "gRPC services"],
} as const;

/**
 * The links between the references, the same on all their pages.
 *
 * @param current the reader's position: `page` on the page of the link, `true` on one below it
 */
export function referencesNavigation(
  current: keyof typeof REFERENCES,
  mark: "page" | "true",
  descriptionPath: string,
): string {
  const links = Object.entries(REFERENCES).map(([name, [path, text]]) => {
    const here = name === current ? ` aria-current="${mark}"` : "";
    return `<a href="${path}"${here}>${text}</a>`;
  });
  return `<nav class="references" aria-label="References">
${links.join("\n")}
<a href="${descriptionPath}">OpenAPI document</a>
</nav>`;
}
