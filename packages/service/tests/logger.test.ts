import { Writable } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { createLogger } from "../src/index.ts";

describe("a log line", () => {
  it("is JSON with the service, a readable level and an ISO time", () => {
    const [line] = logged((logger) => logger.info({ requestId: "r" }, "hello"));

    expect(line).toMatchObject({ level: "info", service: "tables", requestId: "r", msg: "hello" });
    expect(line).toHaveProperty("time", expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/));
  });

  it("never holds credentials from headers", () => {
    const headers = {
      authorization: "hunter2",
      "x-api-key": "hunter2",
      cookie: "hunter2",
      "set-cookie": ["hunter2"],
      accept: "*/*",
    };

    const lines = logged((logger) => {
      logger.info(headers);
      logger.info({ headers });
      logger.info({ request: { headers } });
      logger.info({ requests: [headers] });
      logger.child({ headers }).info("hello");
    });

    expect(lines).toHaveLength(5);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
    expect(lines[2]).toHaveProperty("request.headers.accept", "*/*");
  });

  it("tells an error's origin but not what libraries attach to it", () => {
    const database = Object.assign(new Error("duplicate key"), {
      code: "23505",
      detail: "Key (email)=(hunter2) already exists.",
    });
    const error = new AppError("CONFLICT", "It exists.", { internal: "users", cause: database });

    const [line] = logged((logger) => logger.error({ err: error }));

    expect(line).toMatchObject({
      err: {
        type: "AppError",
        message: "It exists.",
        reason: "CONFLICT",
        internal: "users",
        cause: { message: "duplicate key", code: "23505", stack: expect.any(String) },
      },
    });
    expect(JSON.stringify(line)).not.toContain("hunter2");
  });

  it("survives an error that is its own cause and one that is no error", () => {
    const circular = new Error("round");
    circular.cause = circular;

    const lines = logged((logger) => {
      logger.error({ err: circular });
      logger.error({ err: "just text" });
    });

    expect(lines).toMatchObject([
      { err: { message: "round" } },
      { err: { type: "string", message: "just text" } },
    ]);
  });

  it("below the level is not written", () => {
    expect(logged((logger) => logger.debug("hidden"))).toEqual([]);
  });
});

function logged(write: (logger: ReturnType<typeof createLogger>) => void): unknown[] {
  const lines: unknown[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  write(createLogger({ name: "tables", level: "info", destination }));
  return lines;
}
