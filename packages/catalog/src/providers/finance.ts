import type { ProviderManifest } from "../provider-manifest.ts";

/**
 * Our own finance application (D37): it sends events (D40) and has no API. Its connection is named by an
 * externalAccountId, which events are matched with.
 */
export const finance: ProviderManifest = {
  id: "finance",
  name: "Finance",
  description: "Events of the finance application start workflows.",
  category: "accounting",
  // It has no reference of its own; its events are signed in this way (D40).
  docs: "https://www.rfc-editor.org/rfc/rfc2104",
  // A name that never resolves (RFC 2606): nothing is sent there.
  baseUrl: "https://finance.invalid",
  hosts: [],
  auth: { kind: "own" },
  sign: {},
  errors: { code: [], message: [] },
  actions: [],
};
