// Shows the OpenAPI document of this server, and asks nobody else for anything.
const root = document.getElementById("reference");

/**
 * Leaves optional parameters out of a request that is tried until somebody ticks them: Scalar would send what the
 * document gives as their examples, and the example of a cursor leads to no page.
 */
function withOptionalOnesOff(description) {
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path));
  const lists = operations.map(({ parameters = [] }) => parameters);
  const shared = Object.values(description.components?.parameters ?? {});
  for (const parameter of [...lists.flat(), ...shared]) {
    if (parameter.required === true || parameter.schema === undefined) continue;
    const { example, schema } = parameter;
    const value = example ?? schema.examples?.[0] ?? schema.default ?? schema.enum?.[0] ?? "";
    delete parameter.example;
    parameter.examples = { example: { value, "x-disabled": true } };
  }
  return description;
}

async function readDescription(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status}.`);
  return withOptionalOnesOff(await response.json());
}

const content = await readDescription(root.dataset.description).catch((error) => {
  root.textContent = `The OpenAPI document cannot be shown: ${error.message}`;
  throw error;
});

globalThis.Scalar.createApiReference(root, {
  content,
  // Their defaults are hosts of Scalar.
  externalUrls: { dashboardUrl: "", registryUrl: "", proxyUrl: "", apiBaseUrl: "" },
  proxyUrl: "",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  documentDownloadType: "none",
  // An API key that somebody enters is gone with the page.
  persistAuth: false,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
});
