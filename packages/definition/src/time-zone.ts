/**
 * The name under which a time zone is known here, in its usual spelling; undefined for what is not
 * an IANA zone. Intl also knows fixed offsets such as "+02:00", which no daylight saving time follows.
 */
export function canonicalTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
