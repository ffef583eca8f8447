import { readFile } from "node:fs/promises";
import { ROLES } from "@workflow/service-gateway/admin";
import { z } from "zod";
import { UsageError } from "./usage-error.ts";

/** Names the form of a list, so that another file is refused. */
export const LIST_FORMAT = "revocations/1";

const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** What `list-revocations --json` prints; members that are not named here are for people. */
const revocationList = z.object({
  format: z.literal(LIST_FORMAT),
  listedAt: time,
  companies: z.array(
    z.object({
      companyId: z.uuid(),
      apiKeys: z.array(z.uuid()),
      members: z.array(z.object({ userId: z.uuid(), role: z.enum(ROLES).nullable() })),
      followUps: z.array(
        z.object({
          action: z.string(),
          resourceType: z.string(),
          resourceId: z.string(),
          at: z.string(),
        }),
      ),
    }),
  ),
  tokens: z.array(z.object({ jti: z.uuid(), expiresAt: time })),
});

/** A list of revocations that was read from a file. */
export type RevocationList = z.output<typeof revocationList>;

/**
 * Reads a list from a file.
 *
 * @throws UsageError naming what is wrong with it
 */
export async function readRevocationList(path: string): Promise<RevocationList> {
  const parsed = revocationList.safeParse(parseJson(await readText(path)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue === undefined || issue.path.length === 0 ? "" : ` ${issue.path.join(".")}:`;
  throw new UsageError(`--file is no list of revocations:${place} ${issue?.message}`);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`--file cannot be read: ${String(error)}`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError("--file holds no JSON", { cause: error });
  }
}
