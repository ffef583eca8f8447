import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { NODE_FLAGS } from "../src/node-flags.ts";

const ROOT = join(import.meta.dirname, "../../..");

it("Node's flags are the same for npm start and for the images (ADR 58)", async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  expect(scripts.start).toContain(` ${NODE_FLAGS.join(" ")} deploy/dev/src/start.ts`);
  const image = await readFile(join(ROOT, "deploy/docker/Dockerfile"), "utf8");
  const entry = JSON.stringify(["node", ...NODE_FLAGS, "/app/main.mjs"]);
  expect(image).toContain(`ENTRYPOINT ${entry.replaceAll(",", ", ")}`);
});
