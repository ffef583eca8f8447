import type { Writable } from "../../http/write-json.ts";
import type { Member } from "../../store/members.ts";

/** A member as the company sees it. */
export function memberJson({ userId, email, name, role, createdAt }: Member): Writable {
  return { userId, email, name, role, createdAt };
}
