import { getEventListeners, once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ConnectionError, createClient, InvalidAnswerError, isApiError } from "@workflow/client";
import type { RunEvent, WorkflowClient } from "@workflow/client";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { fc } from "@workflow/testkit/property-test";

type Answer = Parameters<DoubleHandler>[1];

/** Answers one connection after the other; the last one again and again. */
let script: DoubleHandler[];
let double: HttpDouble;
let client: WorkflowClient;

beforeEach(async () => {
  script = [];
  double = await startHttpDouble((request, response) => {
    const next = script.length > 1 ? script.shift() : script[0];
    return next?.(request, response);
  });
  client = createClient({ baseUrl: `${double.url}/api/v1`, apiKey: "wfk_test" });
});

afterEach(() => double.close());

const RUNNING = event("run", "p1", { id: "run_1", status: "running" });
const STEP = event("step", "p2", { stepId: "größe", status: "success", output: "a\nb" });
const COMPLETED = event("run", "p3", { id: "run_1", status: "completed", output: { n: 1 } });

const COMMENT = ":\n\n: still here\n";
const LINE_ENDS = ["\n", "\r\n", "\r"];

const TOLD = [
  { type: "run", id: "p1", data: { id: "run_1", status: "running" } },
  { type: "step", id: "p2", data: { stepId: "größe", status: "success", output: "a\nb" } },
  { type: "run", id: "p3", data: { id: "run_1", status: "completed", output: { n: 1 } } },
];

describe("a stream", () => {
  test("is told event by event, and ends with the run", async () => {
    script = [stream([RUNNING, STEP, COMPLETED, RUNNING])];
    expect(await eventsOf()).toEqual(TOLD);
    expect(double.requests).toHaveLength(1);
    expect(double.requests[0]).toMatchObject({
      path: "/api/v1/runs/run_1/events",
      headers: { accept: "text/event-stream", "x-api-key": "wfk_test" },
    });
  });

  test("says the same wherever its pieces end and however its lines do", async () => {
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
    const property = fc.asyncProperty(cuts, fc.constantFrom(...LINE_ENDS), async (places, end) => {
      const text = [RUNNING, COMMENT, STEP, COMMENT, COMPLETED].join("");
      script = [pieces(Buffer.from(`\u{feff}${text.replaceAll("\n", end)}`), places)];
      expect(await eventsOf()).toEqual(TOLD);
    });
    await fc.assert(property);
  });

  test("passes over kinds of events that this version does not know", async () => {
    script = [stream([event("weather", "p0", { rain: true }), RUNNING, "data\n\n", COMPLETED])];
    expect((await eventsOf()).map(({ id }) => id)).toEqual(["p1", "p3"]);
  });

  test.each([
    ["a line that does not end", () => "x".repeat(1 << 20)],
    ["an event that does not end", () => `data: ${"x".repeat(1 << 20)}\n`],
  ])("with %s is given up, and not held whole", async (_, piece) => {
    let pieces = 0;
    script = [
      async (__, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        function* endless(): Generator<string> {
          for (; pieces < 200; pieces += 1) yield piece();
        }
        // The client hangs up.
        await pipeline(Readable.from(endless()), response).catch(() => {});
      },
    ];
    await expect(eventsOf()).rejects.toThrow("An event of the stream is too long.");
    expect(pieces).toBeLessThan(200);
    expect(double.requests).toHaveLength(1);
  });

  test("of several lines of data is one document", async () => {
    script = [stream(['event: run\nid: p3\ndata: {"status":\ndata:  "completed"}\n\n'])];
    expect(await eventsOf()).toEqual([{ type: "run", id: "p3", data: { status: "completed" } }]);
  });
});

describe("a connection that breaks", () => {
  test("is made anew and goes on behind the last event", async () => {
    script = [
      stream(["retry: 1\n\n", RUNNING, "event: step\nid: p2\nda"], { cut: true }),
      stream(["retry: 1\n\n", STEP]),
      stream([COMPLETED]),
    ];
    expect(await eventsOf()).toEqual(TOLD);
    const positions = double.requests.map(({ headers }) => headers["last-event-id"]);
    expect(positions).toEqual([undefined, "p1", "p2"]);
  });

  test("tells nothing twice when the server repeats the last event", async () => {
    script = [stream(["retry: 1\n\n", RUNNING, STEP]), stream([STEP, COMPLETED])];
    expect(await eventsOf()).toEqual(TOLD);
  });

  test("ends well when the server says that everything was told", async () => {
    script = [stream(["retry: 1\n\n", RUNNING]), () => ({ status: 204 })];
    expect((await eventsOf()).map(({ id }) => id)).toEqual(["p1"]);
  });

  test("is one that gives no sign of life", async () => {
    script = [silentAfter(`retry: 1\n\n${RUNNING}`), stream([STEP, COMPLETED])];
    expect(await eventsOf({ idleTimeoutMs: 2_000 })).toEqual(TOLD);
  });

  test("again and again ends with an error", async () => {
    script = [stream(["retry: 1\n\n"])];
    const reading = eventsOf({ maxRetries: 3 });
    await expect(reading).rejects.toBeInstanceOf(ConnectionError);
    expect(double.requests).toHaveLength(4);
  });

  test("and is refused then ends with the refusal", async () => {
    const error = { code: "UNAUTHORIZED", message: "No.", requestId: "request-1" };
    script = [
      stream(["retry: 1\n\n", RUNNING]),
      () => ({ status: 401, body: { success: false, error } }),
    ];
    const failure = await eventsOf().catch((reason: unknown) => reason);
    expect(isApiError(failure, "UNAUTHORIZED")).toBe(true);
    expect(double.requests).toHaveLength(2);
  });
});

describe("a reader who has enough", () => {
  test("closes the connection by breaking off", async () => {
    const closed = onceClosed();
    for await (const { id } of client.runs.events("run_1")) {
      expect(id).toBe("p1");
      break;
    }
    await closed;
  });

  test("closes the connection by a signal, and gets its reason", async () => {
    const closed = onceClosed();
    const controller = new AbortController();
    const reading = (async () => {
      for await (const _ of client.runs.events("run_1", { signal: controller.signal })) {
        controller.abort(new Error("Enough."));
      }
    })();
    await expect(reading).rejects.toThrow("Enough.");
    await closed;
  });
});

describe("a signal of many readers", () => {
  const { signal } = new AbortController();
  const listeners = (): unknown[] => getEventListeners(signal, "abort");

  test("has no listener of a run that was followed, whose connections broke or not", async () => {
    script = [
      stream(["retry: 1\n\n", RUNNING], { cut: true }),
      stream(["retry: 1\n\n", STEP]),
      stream([COMPLETED]),
    ];
    expect(await eventsOf({ signal })).toEqual(TOLD);
    expect(listeners()).toEqual([]);
  });

  test("has one while a run is followed, and none once the reader breaks off", async () => {
    const closed = onceClosed();
    for await (const _ of client.runs.events("run_1", { signal })) {
      expect(listeners()).toHaveLength(1);
      break;
    }
    await closed;
    expect(listeners()).toEqual([]);
  });

  test("has none when the run was over before", async () => {
    script = [() => ({ status: 204 })];
    expect(await eventsOf({ signal })).toEqual([]);
    expect(listeners()).toEqual([]);
  });
});

describe("what is no stream of this API", () => {
  test("is a page with status 200, and is asked for once", async () => {
    const headers = { "content-type": "text/html" };
    script = [() => ({ headers, body: "<h1>Sign in</h1>" })];
    await expect(eventsOf()).rejects.toBeInstanceOf(InvalidAnswerError);
    expect(double.requests).toHaveLength(1);
  });

  test.each(["{bad", "null", "5"])(
    "is one with the data %s, and is asked for once",
    async (data) => {
      script = [stream([`retry: 1\n\nevent: run\nid: p1\ndata: ${data}\n\n`])];
      await expect(eventsOf()).rejects.toBeInstanceOf(InvalidAnswerError);
      expect(double.requests).toHaveLength(1);
    },
  );
});

test("a run without an id is refused at once", async () => {
  script = [stream(["retry: 1\n\n"])];
  const failure = new TypeError("id must be a text that is not empty.");
  await expect(client.runs.events("").next()).rejects.toThrow(failure);
  await expect(client.runs.wait("")).rejects.toThrow(failure);
  expect(double.requests).toHaveLength(0);
});

test("a reader who knows the beginning gets the rest", async () => {
  script = [stream([COMPLETED])];
  await eventsOf({ after: "p2" });
  expect(double.requests[0]?.headers["last-event-id"]).toBe("p2");
});

async function eventsOf(options = {}): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const each of client.runs.events("run_1", options)) events.push(each);
  return events;
}

function event(type: string, id: string, data: object): string {
  return `event: ${type}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A connection that tells this and ends, by a cut if so wished. */
function stream(texts: readonly string[], { cut = false } = {}): DoubleHandler {
  return (_, response) => {
    begin(response);
    response.write(texts.join(""), () => {
      if (cut) response.destroy();
      else response.end();
    });
  };
}

/** A connection that sends bytes in pieces which end at these places. */
function pieces(bytes: Buffer, cuts: readonly number[]): DoubleHandler {
  return async (_, response) => {
    begin(response);
    let start = 0;
    for (const end of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
      await new Promise((resolve) => response.write(bytes.subarray(start, end), resolve));
      start = Math.max(start, end);
    }
    response.end();
  };
}

function silentAfter(text: string): DoubleHandler {
  return (_, response) => {
    begin(response);
    response.write(text);
  };
}

/** Resolves when the client closes a connection that would go on. */
async function onceClosed(): Promise<void> {
  await new Promise<void>((resolve) => {
    script = [
      (_, response) => {
        void once(response, "close").then(() => resolve());
        begin(response);
        response.write(RUNNING);
      },
    ];
  });
}

function begin(response: Answer): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.socket?.setNoDelay(true);
}
