/** What both sides of an internal token must agree on. */
export const TOKEN_ALGORITHM = "EdDSA";
export const TOKEN_AUDIENCE = "workflow-internal";
export const DEFAULT_TOKEN_ISSUER = "workflow";
