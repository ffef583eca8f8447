import { ServerResponse } from "node:http";

/** A warning of Node about listeners, with its emitter. */
interface ListenerWarning extends Error {
  readonly emitter: unknown;
}

const found: Error[] = [];

/*
 * Node warns once for each emitter with more than ten listeners of one event. On an answer, such
 * listeners mean one for each written piece, a leak that lasts as long as the answer. The warning in
 * the log names neither the test nor the code.
 */
process.on("warning", (warning) => {
  if (isOfListeners(warning) && warning.emitter instanceof ServerResponse) found.push(warning);
});

/** The warnings since the last call about listeners that pile up on answers of HTTP servers. */
export function takePiledListeners(): Error[] {
  return found.splice(0);
}

function isOfListeners(warning: Error): warning is ListenerWarning {
  return warning.name === "MaxListenersExceededWarning" && "emitter" in warning;
}
