import { z } from "zod";

/** A text, in which templates may stand. */
export function text(description: string) {
  return z.string().meta({ description });
}

/** Any JSON value, in which templates may stand; it has to be given. */
export function anyValue(description: string) {
  const error = "is required; it may be any JSON value";
  return z.nonoptional(z.unknown(), { error }).meta({ description });
}
