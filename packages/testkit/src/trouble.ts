import type { ServerResponse } from "node:http";
import type { DoubleResponse } from "./http-double.ts";

/** Ways in which an external server gives no useful answer. */
export const TROUBLES = [
  "hangs",
  "html",
  "huge",
  "broken-json",
  "server-error",
  "unauthorized",
] as const;

/** A way to give no useful answer. */
export type Trouble = (typeof TROUBLES)[number];

const CHUNK = "x".repeat(64 * 1024);

/** Answers a request in a troubled way. The caller must end `hangs` and `huge` itself. */
export function answerTroubled(trouble: Trouble, response: ServerResponse): DoubleResponse | void {
  switch (trouble) {
    case "hangs":
      return undefined;
    case "html":
      return {
        headers: { "content-type": "text/html" },
        body: "<html><body>Maintenance</body></html>",
      };
    case "huge":
      return streamForEver(response);
    case "broken-json":
      return { headers: { "content-type": "application/json" }, body: '{"access_token":"half' };
    case "server-error":
      return { status: 503, body: { error: { code: "server_error" } } };
    case "unauthorized":
      return { status: 401, body: { error: { code: "unauthorized" } } };
    default:
      return trouble satisfies never;
  }
}

/** Announces 10 GB, and sends as long as the caller reads. */
function streamForEver(response: ServerResponse): void {
  response.writeHead(200, {
    "content-type": "application/json",
    "content-length": 10 * 1024 ** 3,
  });
  const write = (): void => {
    while (!response.destroyed && response.write(CHUNK));
  };
  response.on("drain", write);
  write();
}
