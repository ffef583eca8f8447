const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * Parses an ISO 8601 date or timestamp to milliseconds since 1970. Undefined for another text, or a day that
 * does not exist. A date is its midnight; without an offset the time is UTC. Digits below a millisecond are
 * dropped.
 */
export function parseIsoTime(text: string): number | undefined {
  const found = text.length > 40 ? null : ISO_TIME.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", offset] = found;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const written = new Date(date);
  // Date.UTC reads years below 100 as 19xx and rolls over days and months that don't exist.
  if (written.getUTCFullYear() !== Number(year)) return undefined;
  if (written.getUTCMonth() !== Number(month) - 1 || written.getUTCDate() !== Number(day)) {
    return undefined;
  }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const offsetMs = parseOffset(offset);
  if (offsetMs === undefined) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, "0"));
  return (
    date +
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 +
    milliseconds -
    offsetMs
  );
}

function parseOffset(offset: string | undefined): number | undefined {
  if (offset === undefined || offset === "Z" || offset === "z") return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
