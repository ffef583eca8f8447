import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import { startInOwnNamespaces, whyNoNamespaces } from "../support/own-namespaces.ts";
import { LONG } from "./support/length.ts";

/* The machine of a client disappears: its kernel says no goodbye, and answers nothing any more. */

const PROGRAM = join(import.meta.dirname, "support/vanished-client-process.ts");
const trouble = whyNoNamespaces();
const NOT_RUN = trouble === null ? "" : ` (not run: ${trouble})`;

describe(`Postgres whose client has vanished${NOT_RUN}`, () => {
  (trouble === null ? it : it.skip)(
    "ends each of its sessions, whatever they do, and gives back their rows and the migration lock",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "vanished-"));
      try {
        // Postgres is another user.
        await chmod(folder, 0o755);
        const child = startInOwnNamespaces(PROGRAM, {
          args: [],
          folder,
          stdio: ["ignore", "pipe", "inherit"],
        });
        if (child.stdout === null) throw new Error("There is no stdout.");
        const [written] = await Promise.all([text(child.stdout), once(child, "exit")]);
        expect(JSON.parse(written)).toEqual({
          heldBefore: [1, 2, 3],
          left: [],
          heldAfter: [],
          migrated: ["0001_change.sql"],
        });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    LONG,
  );
});
