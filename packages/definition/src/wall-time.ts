import { IANAZone } from "luxon";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** The local time of a time zone at an instant, written as if it were UTC. */
export function toWallTime(instant: Date, timezone: string): Date {
  return new Date(instant.getTime() + offsetMs(instant.getTime(), zoneOf(timezone)));
}

/**
 * The instant of a local time (written as if it were UTC) in a time zone. The first one for a repeated time;
 * for a skipped time, the instant of the gap.
 */
export function toInstant(wallTime: Date, timezone: string): Date {
  const zone = zoneOf(timezone);
  const wall = wallTime.getTime();
  // One day before and after lie outside of the single change that may be near.
  const candidates = [wall - DAY_MS, wall + DAY_MS].map((near) => wall - offsetMs(near, zone));
  const found = candidates.filter((instant) => instant + offsetMs(instant, zone) === wall);
  if (found.length > 0) return new Date(Math.min(...found));
  return new Date(findChange(Math.min(...candidates), Math.max(...candidates), zone));
}

/** The first instant whose offset differs from that at `from`. The offset at `to` must differ. */
function findChange(from: number, to: number, zone: IANAZone): number {
  const before = offsetMs(from, zone);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMs(middle, zone) === before) low = middle;
    else high = middle;
  }
  return high;
}

function offsetMs(instant: number, zone: IANAZone): number {
  return zone.offset(instant) * MINUTE_MS;
}

function zoneOf(timezone: string): IANAZone {
  return IANAZone.create(timezone);
}
