import { randomBytes } from "node:crypto";
import { rotateKek } from "@workflow/sealing";
import type { KekSource, Rotation } from "@workflow/sealing";
import { ConfigError } from "@workflow/service";
import { describeHolder, tryLockDataDir } from "../data-dir-lock.ts";
import { prepareDataDir } from "../data-dir.ts";
import { StartError } from "../start-error.ts";
import { ensureSecretsKeks, readSecretsKeks, replaceSecretsKeks } from "../keys.ts";
import type { Command } from "./command.ts";
import { withMigratedPostgres, withRole } from "./database.ts";
import { recordEvent } from "./record-event.ts";
import type { AdminSettings } from "./settings.ts";

const KEK_BYTES = 32;

/**
 * Encrypts all company keys with the first key of SECRETS_KEK, or with a new one where the data folder keeps the
 * key. The next call continues an interrupted rotation.
 */
export const rotateKekCommand: Command = {
  summary: "Encrypts the keys of all companies with a new key, see docs/ops/secrets.md.",
  flags: {},
  async run(settings) {
    const source = await sourceOf(settings);
    const { kekId, rewrapped, companyKeys, retired } = await rotateAll(settings, source);
    await recordEvent(settings, {
      companyId: null,
      action: "kek.rotated",
      resourceType: "kek",
      resourceId: kekId,
      changes: {
        companyKeys: { from: null, to: rewrapped },
        retired: { from: null, to: retired.join(" ") },
      },
    });
    const text =
      `Company keys wrapped anew  ${rewrapped} of ${companyKeys}\n` +
      `Key in use                 ${kekId}\n` +
      `Keys not needed any more   ${retired.length === 0 ? "none" : retired.join(", ")}`;
    return { json: { kekId, rewrapped, companyKeys, retired }, text };
  },
};

/** Rotates the sealed values of all services, each schema in its own role. */
async function rotateAll(settings: AdminSettings, source: KekSource): Promise<Rotation> {
  return withMigratedPostgres(settings, (connectionUri) =>
    withRole(connectionUri, "workflow_integrations", (integrations) =>
      withRole(connectionUri, "workflow_webhooks", (webhooks) =>
        rotateKek(
          [
            { database: integrations, schema: "integrations" },
            { database: webhooks, schema: "webhooks" },
          ],
          source,
        ),
      ),
    ),
  );
}

async function sourceOf(settings: AdminSettings): Promise<KekSource> {
  const { SECRETS_KEK: given, DATABASE_URL } = settings;
  if (given !== undefined) {
    return { begin: () => Promise.resolve(given), end: () => Promise.resolve() };
  }
  const dataDir = await prepareDataDir(settings.DATA_DIR);
  // A database elsewhere may have its key elsewhere, so no key is made here.
  if (DATABASE_URL !== undefined && (await readSecretsKeks(dataDir)) === null) {
    const message = `is required but not set, and ${dataDir} keeps no key`;
    throw new ConfigError([{ setting: "SECRETS_KEK", message }]);
  }
  await assertNotSeparate(dataDir);
  return fileSource(dataDir);
}

/** `npm start` reads the file again. Separate processes got their key when they began. */
async function assertNotSeparate(dataDir: string): Promise<void> {
  const lock = await tryLockDataDir(dataDir, "npm run admin");
  if ("release" in lock) return lock.release();
  if (lock.holder?.command !== "npm run start:separate") return;
  const holder = describeHolder(lock.holder);
  throw new StartError(`${holder} could not read secrets with a new key. Stop it, then rotate.`);
}

/**
 * The new key is stored in the file before it is used. The old one stays until nothing needs it.
 */
function fileSource(dataDir: string): KekSource {
  return {
    async begin() {
      const keks = await ensureSecretsKeks(dataDir);
      // Several keys mean an interrupted rotation, whose new key comes first.
      if (keks.length > 1) return keks;
      const rotating = [randomBytes(KEK_BYTES), ...keks];
      await replaceSecretsKeks(dataDir, rotating);
      return rotating;
    },
    end: (kek) => replaceSecretsKeks(dataDir, [kek]),
  };
}
