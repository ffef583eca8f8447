import { isNativeError } from "node:util/types";

/** The way in which an error failed a test: it was thrown to the test, or nothing caught it. */
export type ErrorWay = "thrown" | "uncaught" | "unhandled rejection";

const WAYS: Record<ErrorWay, string> = {
  thrown: "",
  uncaught:
    "Nobody caught it: it came from a callback or an event without a listener for errors.\n",
  "unhandled rejection": "Nobody handled it: a promise was rejected that nothing waits for.\n",
};
/** The members of system errors beside the message. */
const MEMBERS = ["code", "syscall", "address", "port", "path"] as const;
const FRAME = /^\s+at /;
const FOREIGN = /node:|node_modules/;

/**
 * Adds its origin to an error that failed a test. Jest omits Node's own frames, and an error of a
 * socket has no others, so Jest would print only "write EPIPE". The frames, the error's members, and
 * the way in which it failed the test become part of the text.
 */
export function explainError(error: unknown, way: ErrorWay): void {
  if (!isNativeError(error) || error.stack === undefined) return;
  const lines = error.stack.split("\n");
  const frames = lines.filter((line) => FRAME.test(line));
  const isForeign = frames.every((frame) => FOREIGN.test(frame));
  if (way === "thrown" && !isForeign) return;
  const text = lines.filter((line) => !FRAME.test(line)).join("\n");
  const stack = [
    text,
    "",
    WAYS[way] + describeMembers(error),
    ...(isForeign ? ["No line of the project is in its stack:"] : []),
    ...(isForeign ? frames.map(asText) : frames),
  ].join("\n");
  // A frozen error keeps its text, because an assignment would throw in Jest's own handler.
  Reflect.set(error, "stack", stack);
}

/** A frame in words, because Jest omits every line that looks like one of Node's frames. */
function asText(frame: string): string {
  return frame
    .replace(FRAME, "  ")
    .replace(/\(?node:(.+):(\d+):\d+\)?$/, (_frame, module, line) => `of ${module}, line ${line}`);
}

function describeMembers(error: Error): string {
  const members = new Map(Object.entries(error));
  return MEMBERS.filter((name) => members.has(name))
    .map((name) => `${name} ${String(members.get(name))}`)
    .join(", ");
}
