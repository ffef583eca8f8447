import { AppError } from "@workflow/errors";

/** BAD_REQUEST that names a field, and says what is wrong with it in words that follow the name. */
export function wrongField(path: string | readonly string[], message: string): AppError {
  const parts = typeof path === "string" ? [path] : [...path];
  return new AppError("BAD_REQUEST", `${parts.join(".")} ${message}.`, {
    violations: [{ path: parts, message }],
  });
}
