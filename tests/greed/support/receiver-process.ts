import { createServer } from "node:http";

/* What HTTP steps call: /slow/<milliseconds> and /large/<bytes>. Started by receiver.ts. */

const server = createServer((request, response) => {
  request.resume();
  const [, kind, amount = "0"] = (request.url ?? "").split("/");
  if (kind === "large") {
    response.setHeader("content-type", "text/plain");
    response.end("x".repeat(Number(amount)));
    return;
  }
  setTimeout(() => response.end("ok"), Number(amount));
});

process.once("message", () => {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) {
      process.send?.({ origin: `http://127.0.0.1:${address.port}` });
    }
  });
});
process.once("disconnect", () => server.close());
