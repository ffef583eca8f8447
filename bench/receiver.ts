import { createServer } from "node:http";
import { z } from "zod";

/** The first message for the receiver. */
const start = z.object({ answerAfterMs: z.number(), port: z.number(), answer: z.string() });

/**
 * The host that steps call: a process of its own that takes every request, answers a JSON object after a while, and
 * ends with its parent.
 */
process.once("disconnect", () => process.exit());
process.once("message", (message) => {
  const { answerAfterMs, port, answer: body } = start.parse(message);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const server = createServer((request, response) => {
    request.resume();
    const answer = (): void => void response.writeHead(200, headers).end(body);
    request.once("end", () => {
      if (answerAfterMs === 0) answer();
      else setTimeout(answer, answerAfterMs);
    });
  });
  // A measurement may pause for this time.
  server.keepAliveTimeout = 60_000;
  server.listen(port, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) {
      process.send?.({ url: `http://127.0.0.1:${address.port}` });
    }
  });
});
