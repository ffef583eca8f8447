import { z } from "zod";

/** A text that may hold templates. */
export function text(description: string) {
  return z.string().meta({ description });
}

/** Any JSON value, required; it may hold templates. */
export function anyValue(description: string) {
  const error = "is required; it may be any JSON value";
  return z.nonoptional(z.unknown(), { error }).meta({ description });
}
