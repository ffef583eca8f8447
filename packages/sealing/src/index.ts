export { ensureCompanyKey, unwrapCompanyKey } from "./company-keys.ts";
export type { CompanyKey } from "./company-keys.ts";
export type { KeyRing, LoadKeks, SealingSchema } from "./key-ring.ts";
export { openKeyRing } from "./open-key-ring.ts";
export { rotateKek } from "./rotate-kek.ts";
export type { KekSource, Rotation, SealedSchema } from "./rotate-kek.ts";
export { openText, sealText } from "./sealed-text.ts";
export type { WrappedKey } from "./store/company-keys.ts";
