import type { SecretsClient } from "./resolve-secrets.ts";

/** The client where no service keeps secrets: none exist. */
export const NO_SECRETS: SecretsClient = {
  resolve: () => Promise.resolve(new Map()),
  close() {},
};
