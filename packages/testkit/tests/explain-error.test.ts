import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, it } from "@jest/globals";
import { explainError } from "../src/explain-error.ts";

it("an error of a socket, which no line of ours has thrown, tells where it is from", async () => {
  const error = await refusal();
  expect(error.stack).not.toContain(import.meta.filename);
  explainError(error, "thrown");
  expect(error.stack).toMatch(/^Error: connect ECONNREFUSED/);
  expect(error.stack).toMatch(
    /\ncode ECONNREFUSED, syscall connect, address 127\.0\.0\.1, port \d+\n/,
  );
  expect(error.stack).toMatch(/\n {2}\S.* of net, line \d+/);
  expect(error.stack).not.toMatch(/\n +at /);
});

it("an error that nobody caught says so, and keeps the lines of ours", () => {
  for (const [way, text] of [
    ["uncaught", "Nobody caught it"],
    ["unhandled rejection", "a promise was rejected"],
  ] as const) {
    const error = new Error("lost");
    explainError(error, way);
    expect(error.stack).toContain(text);
    expect(error.stack).toMatch(/^Error: lost\n/);
    expect(error.stack).toMatch(/\n +at .*explain-error\.test\.ts:/);
  }
});

it("an error that a test has thrown stays as it is, and so does what is none", () => {
  const error = new Error("plain");
  const { stack } = error;
  explainError(error, "thrown");
  expect(error.stack).toBe(stack);
  for (const value of [undefined, null, "text", { message: "no error" }]) {
    expect(() => explainError(value, "uncaught")).not.toThrow();
  }
});

/** What connecting to a port comes to on which nobody listens. */
async function refusal(): Promise<Error> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  server.close();
  await once(server, "close");
  const socket = connect(address.port, "127.0.0.1");
  return new Promise((resolve) => void socket.once("error", resolve));
}
