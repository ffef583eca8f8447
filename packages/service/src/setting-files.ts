import { readFileSync } from "node:fs";
import { isNativeError } from "node:util/types";
import type { ConfigProblem } from "./config-error.ts";

const SUFFIX = "_FILE";

/** The variable that names a file with a setting's value. */
export function fileSettingName(setting: string): string {
  return `${setting}${SUFFIX}`;
}

/**
 * Reads the settings for which a file is named: the content of the file at DATABASE_URL_FILE becomes
 * DATABASE_URL, as Kubernetes and Docker mount secrets. Space around the value is removed.
 *
 * @param given the variables that are set
 * @param names the wanted settings
 */
export function readSettingFiles(
  given: Readonly<Record<string, string>>,
  names: readonly string[],
): { values: Record<string, string>; problems: ConfigProblem[] } {
  const values: Record<string, string> = {};
  const problems: ConfigProblem[] = [];
  for (const name of names) {
    const setting = fileSettingName(name);
    const file = given[setting];
    if (file === undefined) continue;
    if (given[name] !== undefined) {
      problems.push({ setting, message: `is set beside ${name}; give one of them` });
      continue;
    }
    const text = readText(file);
    if ("trouble" in text) problems.push({ setting, message: text.trouble });
    else values[name] = text.value;
  }
  return { values, problems };
}

function readText(file: string): { value: string } | { trouble: string } {
  try {
    const value = readFileSync(file, "utf8").trim();
    return value === "" ? { trouble: `${JSON.stringify(file)} is empty` } : { value };
  } catch (error) {
    const code: unknown = isNativeError(error) ? Reflect.get(error, "code") : undefined;
    return { trouble: `${JSON.stringify(file)} cannot be read (${String(code)})` };
  }
}
