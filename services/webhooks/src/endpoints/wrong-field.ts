import { AppError } from "@workflow/errors";

/** The BAD_REQUEST that names a field. The message follows the field's name. */
export function wrongField(path: string | readonly string[], message: string): AppError {
  const parts = typeof path === "string" ? [path] : [...path];
  return new AppError("BAD_REQUEST", `${parts.join(".")} ${message}.`, {
    violations: [{ path: parts, message }],
  });
}
