/**
 * The usual spelling of a time zone's name; undefined for a text that is no IANA zone. Intl also accepts
 * fixed offsets such as "+02:00", which have no daylight saving time.
 */
export function canonicalTimeZone(name: string): string | undefined {
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
