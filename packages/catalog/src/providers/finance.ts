import type { ProviderManifest } from "../provider-manifest.ts";

/**
 * Our own finance application (D37). The application sends events (D40) and has no API. Events name their
 * connection by its externalAccountId.
 */
export const finance: ProviderManifest = {
  id: "finance",
  name: "Finance",
  description: "Events of the finance application start workflows.",
  category: "accounting",
  // The application has no reference; its events are signed in this way (D40).
  docs: "https://www.rfc-editor.org/rfc/rfc2104",
  // The name never resolves (RFC 2606), so no request is sent.
  baseUrl: "https://finance.invalid",
  hosts: [],
  auth: { kind: "own" },
  sign: {},
  errors: { code: [], message: [] },
  actions: [],
};
