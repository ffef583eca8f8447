import { newUuid } from "@workflow/db";
import type { CreateFolderRequest, Folder } from "@workflow/proto/tables/v1/tables";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { Problems } from "../domain/problems.ts";
import { tooManyFolders } from "../domain/company-room.ts";
import { folderCreated } from "../domain/table-audit.ts";
import { checkName } from "../domain/table-fields.ts";
import { lockRoom } from "../store/company-room.ts";
import { insertFolder } from "../store/folders.ts";

/**
 * Stores a new folder. No other folder of the company may have the name; the case of letters counts.
 */
export function createFolder({
  connections,
  audit,
}: ServiceContext): UnaryMethod<CreateFolderRequest, Folder> {
  return rpc({
    scopes: "workflows:write",
    async handler(request, call) {
      const name = request.name.trim();
      const problems = new Problems();
      checkName(name, problems.at("name"));
      problems.throwIfAny();
      const key = { companyId: call.identity.companyId, folderId: newUuid() };
      const folder = await connections
        .of(call.identity.companyId)
        .transaction(async (transaction) => {
          await lockRoom(transaction, key.companyId);
          const created = await insertFolder(transaction, key, name);
          if (created === null) throw tooManyFolders();
          await audit.record(transaction, call, folderCreated(created));
          return created;
        });
      audit.wake();
      return folder;
    },
  });
}
