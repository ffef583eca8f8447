import { isJsonObject, NESTING_MAX } from "@workflow/json";

/**
 * An input with another one laid over it (D27). Objects are merged member by member, anything else is
 * replaced as a whole. Only own members count, whatever their name: `__proto__` is an ordinary one. Below
 * 64 levels, which no stored input has, objects are replaced, too.
 */
export function mergeInput(base: unknown, override: unknown, levels = NESTING_MAX): unknown {
  if (levels === 0 || !isJsonObject(base) || !isJsonObject(override)) return override;
  const merged = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    merged.set(key, merged.has(key) ? mergeInput(merged.get(key), value, levels - 1) : value);
  }
  // Defines members instead of assigning them, so that no setter is called.
  return Object.fromEntries(merged);
}
