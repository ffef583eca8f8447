import { isUuid } from "@workflow/db";
import type { RpcContext } from "@workflow/rpc";
import { folderNotFound } from "../store/folders.ts";
import { tableNotFound } from "../store/states.ts";
import type { TableName } from "../store/states.ts";

/**
 * The table that a request names, within the caller's company.
 * @throws AppError NOT_FOUND for an id of the wrong form, as for an unknown one (D1)
 */
export function requireTableName(tableId: string, { identity }: RpcContext): TableName {
  if (!isUuid(tableId)) throw tableNotFound();
  return { companyId: identity.companyId, tableId: tableId.toLowerCase() };
}

/**
 * The folder that a request names; null for the root.
 *
 * @throws AppError NOT_FOUND like `requireTableName`
 */
export function requireFolderId(folderId: string): string | null {
  if (folderId === "") return null;
  if (!isUuid(folderId)) throw folderNotFound();
  return folderId.toLowerCase();
}
