/** Placeholder of the lead until h3's file comes; overwrite it. */
export function createScrubber(_secrets: Iterable<string>): null {
  return null;
}
