import { constraintOf, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { FOLDER_BYTES_MAX_OF_ALL, FOLDER_OVERHEAD_BYTES } from "../domain/company-room.ts";

const folderRow = z.object({
  id: z.string(),
  name: z.string(),
  /** The newest table comes first. */
  tableIds: z.array(z.string()),
  createdAt: z.date(),
  updatedAt: z.date(),
});

/** A folder and its tables. */
export type FolderRow = z.output<typeof folderRow>;

/** Identifies a folder of a company. */
export interface FolderKey {
  companyId: string;
  folderId: string;
}

/** All folders of a company, in no order. */
export async function listFolders(
  database: Queryable,
  companyId: string,
): Promise<readonly FolderRow[]> {
  return database.any(sql.prepared("folders_list", folderRow)`
    select
      folder.id,
      folder.name,
      array(
        select "table".id::text
        from tables.tables as "table"
        where "table".folder_id = folder.id
        order by "table".created_at desc, "table".id desc
      ) as "tableIds",
      folder.created_at as "createdAt",
      folder.updated_at as "updatedAt"
    from tables.folders as folder
    where folder.company_id = ${companyId}
  `);
}

/**
 * Stores an empty folder; null when the company's folders would exceed their bytes. The transaction must hold the
 * lock of the company's room.
 * @throws AppError CONFLICT when the company has a folder of this name
 */
export async function insertFolder(
  transaction: Transaction,
  { companyId, folderId }: FolderKey,
  name: string,
): Promise<FolderRow | null> {
  try {
    return await transaction.maybeOne(sql.prepared("folders_insert", folderRow)`
      insert into tables.folders (id, company_id, name)
      select ${folderId}, ${companyId}, ${name}
      where (
        select coalesce(sum(octet_length(folder.name) + ${FOLDER_OVERHEAD_BYTES}::integer), 0)
        from tables.folders as folder
        where folder.company_id = ${companyId}
      ) + octet_length(${name}) + ${FOLDER_OVERHEAD_BYTES}::integer
        <= ${FOLDER_BYTES_MAX_OF_ALL}::integer
      returning
        id,
        name,
        array[]::text[] as "tableIds",
        created_at as "createdAt",
        updated_at as "updatedAt"
    `);
  } catch (error) {
    if (constraintOf(error) !== "folders_name_unique") throw error;
    throw new AppError("CONFLICT", "There is a folder of this name already.", { cause: error });
  }
}

/**
 * Notes that the contents of these folders have changed. The folders are locked in the order of their ids, so that
 * moves do not deadlock.
 * @throws AppError NOT_FOUND when one is missing or of another company
 */
export async function touchFolders(
  transaction: Transaction,
  companyId: string,
  folderIds: readonly string[],
): Promise<void> {
  for (const folderId of new Set(folderIds.toSorted())) {
    const touched = await transaction.maybeOne(sql.prepared(
      "folders_touch",
      z.object({ id: z.string() }),
    )`
      update tables.folders
      set updated_at = clock_timestamp()
      where id = ${folderId} and company_id = ${companyId}
      returning id
    `);
    if (touched === null) throw folderNotFound();
  }
}

/** @throws AppError NOT_FOUND for a folder that is missing or of another company */
export async function requireFolder(
  database: Queryable,
  { companyId, folderId }: FolderKey,
): Promise<void> {
  const found = await database.maybeOne(sql.prepared("folders_find", z.object({ id: z.string() }))`
    select folder.id
    from tables.folders as folder
    where folder.id = ${folderId} and folder.company_id = ${companyId}
  `);
  if (found === null) throw folderNotFound();
}

/**
 * The one error for folders that are missing, of another company or named by a malformed id (D1).
 */
export function folderNotFound(): AppError {
  return new AppError("NOT_FOUND", "Folder not found");
}
