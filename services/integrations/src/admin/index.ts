export { rotateKek } from "./rotate-kek.ts";
export type { KekSource, Rotation } from "./rotate-kek.ts";
