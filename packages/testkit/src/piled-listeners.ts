import { ServerResponse } from "node:http";

/** A warning of Node about listeners, with its emitter. */
interface ListenerWarning extends Error {
  readonly emitter: unknown;
}

const found: Error[] = [];

/*
 * Node warns once for each emitter that gets more than ten listeners of one event. On an answer that is a listener for
 * each piece that is written, a leak for as long as the answer takes; the line in the log names neither the test nor the code.
 */
process.on("warning", (warning) => {
  if (isOfListeners(warning) && warning.emitter instanceof ServerResponse) found.push(warning);
});

/** The warnings since the last call, about answers of HTTP servers to which listeners pile up. */
export function takePiledListeners(): Error[] {
  return found.splice(0);
}

function isOfListeners(warning: Error): warning is ListenerWarning {
  return warning.name === "MaxListenersExceededWarning" && "emitter" in warning;
}
