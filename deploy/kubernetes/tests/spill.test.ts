import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { readConfig } from "@workflow/service-tables/config";
import { z } from "zod";
import { environmentOf, makeSecrets } from "./support/environment.ts";
import type { Secrets } from "./support/environment.ts";
import { render } from "./support/kustomize.ts";
import { podOf } from "./support/pods.ts";

const emptyDirs = z.array(
  z.object({ name: z.string(), emptyDir: z.object({ sizeLimit: z.string() }).optional() }),
);

let secrets: Secrets;

beforeAll(async () => {
  secrets = await makeSecrets();
});
afterAll(() => secrets?.remove());

describe("pods of data tables", () => {
  it.each(["overlays/dev", "overlays/production"])(
    "have room on the node's disk for what they spill (%s)",
    async (folder) => {
      const manifests = await render(folder);
      const { main, spec, ...pod } = podOf(manifests, "tables");
      const settings = readConfig(environmentOf(manifests, { spec, ...pod }, main, secrets));
      const directory = settings.TABLES_SPILL_DIR;
      const mount = main.volumeMounts.find(({ mountPath }) => mountPath === directory);
      const volume = emptyDirs.parse(spec.volumes).find(({ name }) => name === mount?.name);
      const mib = Number(/^(\d+)Mi$/.exec(volume?.emptyDir?.sizeLimit ?? "")?.[1]);
      // Beyond the limit the pod would be evicted.
      expect(mib).toBeGreaterThan(settings.TABLES_SPILL_MB);
    },
  );
});
