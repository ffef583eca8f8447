import { InvalidAnswerError } from "./errors.ts";

/**
 * The longest event, in characters. The largest event of the service is a run's whole output. Longer data is no
 * event and would fill the memory.
 */
const EVENT_CHARS_MAX = 64 * 1024 * 1024;

/**
 * An event of a stream, as https://html.spec.whatwg.org/multipage/server-sent-events.html defines it.
 */
export interface StreamEvent {
  /** The type; `message` when the stream does not name one. */
  type: string;
  data: string;
  /** The last id that the stream has named so far; empty when there was none. */
  lastEventId: string;
}

/** The receivers of a stream's content. */
export interface StreamHandlers {
  onEvent: (event: StreamEvent) => void;
  /** Receives the pause before the next connection, in milliseconds. */
  onRetry: (ms: number) => void;
}

/**
 * Parses a stream whose pieces may end anywhere, within a character or between the two of a line break too. An
 * event that the end of the stream cuts off is not told, as the specification has it.
 *
 * @param lastEventId what the stream goes on behind
 * @returns takes the next piece; it throws InvalidAnswerError when an event or a line goes on without end
 */
export function createEventStreamParser(
  handlers: StreamHandlers,
  lastEventId = "",
): (piece: Uint8Array) => void {
  // The decoder also removes a byte order mark.
  const decoder = new TextDecoder();
  const event = { type: "", data: [] as string[], id: lastEventId };
  /** The length of the present event's data. */
  let chars = 0;
  let rest = "";
  let endsWithReturn = false;

  const takeLine = (line: string): void => {
    if (line !== "") {
      const lines = event.data.length;
      takeField(event, line, handlers);
      if (event.data.length > lines) chars += line.length;
      return;
    }
    if (event.data.length > 0) {
      const { type, data, id } = event;
      handlers.onEvent({ type: type || "message", data: data.join("\n"), lastEventId: id });
    }
    event.type = "";
    event.data = [];
    chars = 0;
  };

  return (piece) => {
    let text = decoder.decode(piece, { stream: true });
    if (text === "") return;
    // The second half of a line break whose first half has already ended the line.
    if (endsWithReturn && text.startsWith("\n")) text = text.slice(1);
    endsWithReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\r|\n/);
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? "";
    for (const line of lines) takeLine(line);
    if (chars + rest.length > EVENT_CHARS_MAX) {
      throw new InvalidAnswerError("An event of the stream is too long.", 200);
    }
  };
}

function takeField(
  event: { type: string; data: string[]; id: string },
  line: string,
  { onRetry }: StreamHandlers,
): void {
  const colon = line.indexOf(":");
  // A comment. Servers send comments to keep the connection alive.
  if (colon === 0) return;
  const name = colon === -1 ? line : line.slice(0, colon);
  const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (name === "data") event.data.push(value);
  else if (name === "event") event.type = value;
  else if (name === "id" && !value.includes("\0")) event.id = value;
  else if (name === "retry" && /^\d+$/.test(value)) onRetry(Number(value));
}
