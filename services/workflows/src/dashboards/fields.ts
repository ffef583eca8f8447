import { AppError, invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { RpcContext } from "@workflow/rpc";
import { placeProblems } from "./layout.ts";
import type { Rectangle } from "./compact.ts";

const TITLE_CHARS_MAX = 255;
const INTERVAL_MS_MIN = 1_000;
const INTERVAL_MS_MAX = 24 * 60 * 60 * 1_000;

/** The fields of a widget beside type and config; undefined where not given. */
interface WidgetFields {
  title: string | undefined;
  refreshIntervalMs: number | undefined;
  place: Rectangle | undefined;
}

/**
 * Checks fields.
 *
 * @throws AppError BAD_REQUEST with a violation for each wrong field, by its name in the REST API
 * (D3)
 */
export function requireWidgetFields({ title, refreshIntervalMs, place }: WidgetFields): void {
  const violations: Violation[] = [];
  if (title !== undefined && !isTitle(title)) {
    const message = `must be at most ${TITLE_CHARS_MAX} characters of well-formed text`;
    violations.push({ path: ["title"], message });
  }
  if (refreshIntervalMs !== undefined && !isInterval(refreshIntervalMs)) {
    const message = `must be from ${INTERVAL_MS_MIN} to ${INTERVAL_MS_MAX}`;
    violations.push({ path: ["refresh", "intervalMs"], message });
  }
  if (place !== undefined) violations.push(...placeProblems(place));
  if (violations.length > 0) throw invalidRequest(violations);
}

/**
 * The signed-in person who calls.
 *
 * @throws AppError FORBIDDEN for any other caller (D13)
 */
export function requirePerson({ identity: { principal } }: RpcContext): string {
  if (principal.type === "user") return principal.id;
  const message = "Dashboards are changed by the signed-in person who owns them.";
  throw new AppError("FORBIDDEN", message);
}

function isTitle(title: string): boolean {
  if (!isStorableText(title) || title.length > TITLE_CHARS_MAX * 2) return false;
  return Array.from(title).length <= TITLE_CHARS_MAX;
}

function isInterval(intervalMs: number): boolean {
  return (
    Number.isSafeInteger(intervalMs) &&
    intervalMs >= INTERVAL_MS_MIN &&
    intervalMs <= INTERVAL_MS_MAX
  );
}
