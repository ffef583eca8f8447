import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { MIB } from "./support/raw-client.ts";

const PATH = "/api/v1/workflows";

/** A program that posts 10 MB with urllib and with http.client, and prints the statuses it reads. */
const PYTHON = `
import http.client, sys, urllib.error, urllib.request
port, path, tries = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
body = b" " * 10_000_000
headers = {"content-type": "application/json", "x-api-key": "wfk_wrong"}
for _ in range(tries):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
    try:
        urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        error.read()
        print("urllib", error.code)
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    answer.read()
    print("http.client", answer.status)
`;
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

const run = promisify(execFile);

describe("an answer that comes before the body was sent", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());

  it("is read by Node's client, on a connection that may be kept as on one that may not", async () => {
    for (const keepAlive of [true, false]) {
      const agent = new Agent({ keepAlive });
      for (let round = 0; round < 5; round += 1) {
        const request = httpRequest(test.url + PATH, {
          method: "POST",
          agent,
          headers: { "content-type": "application/json", "content-length": 10 * MIB },
        });
        request.on("error", () => {});
        request.end(Buffer.alloc(10 * MIB, 0x20));
        const [response]: IncomingMessage[] = await once(request, "response");
        expect(response?.statusCode).toBe(401);
        response?.resume();
        if (response !== undefined) await once(response, "end");
      }
      agent.destroy();
    }
  });

  (hasPython ? it : it.skip)("is read 20 times of 20 by Python", async () => {
    const port = String(test.gateway.port);
    const { stdout } = await run("python3", ["-c", PYTHON, port, PATH, "20"], {
      timeout: 120_000,
    });
    const lines = stdout.trim().split("\n");
    expect(lines).toHaveLength(40);
    expect(new Set(lines)).toEqual(new Set(["urllib 401", "http.client 401"]));
  });

  describe("for curl", () => {
    let folder: string;
    let file: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "lingering-"));
      file = join(folder, "body");
      await writeFile(file, Buffer.alloc(10_000_000, 0x20));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    (hasCurl ? it : it.skip).each([
      ["401", ["-H", "Content-Type: application/json"], PATH],
      ["413", ["-H", "Content-Type: application/json", "-H", "KEY"], PATH],
      ["413", ["-H", "Content-Type: application/json", "-H", "KEY", "-H", "Expect:"], PATH],
      [
        "413",
        ["-H", "Content-Type: application/json", "-H", "KEY", "-H", "Transfer-Encoding: chunked"],
        PATH,
      ],
      ["415", ["-H", "Content-Type: text/plain", "-H", "KEY"], "/api/v1/tables/import?format=csv"],
      ["415", ["-F", "file=@BODY", "-H", "KEY"], "/api/v1/tables/import?format=csv"],
    ])("is read: %s %j", async (status, options, path) => {
      const filled = options.map((option) =>
        option.replace("KEY", `X-Api-Key: ${test.company.apiKey}`).replace("BODY", file),
      );
      const body = options.includes("-F") ? [] : ["--data-binary", `@${file}`];
      const { stdout } = await run("curl", [
        "-sS",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code} %{errormsg}",
        ...filled,
        ...body,
        test.url + path,
      ]);
      expect(stdout).toBe(`${status} `);
    });
  });
});
