import type { ListFoldersRequest, ListFoldersResponse } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { compareFolderNames } from "../domain/folder-order.ts";
import { listFolders as listRows } from "../store/folders.ts";

/** Lists all folders of the company in the order of their names. */
export function listFolders({
  connections,
}: ServiceContext): UnaryMethod<ListFoldersRequest, ListFoldersResponse> {
  return rpc({
    scopes: "workflows:read",
    async handler(_request, { identity }) {
      const { companyId } = identity;
      const rows = await listRows(connections.of(companyId), companyId);
      return { folders: rows.toSorted(compareFolderNames) };
    },
  });
}
