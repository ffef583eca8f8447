import { ATTACHMENT_LIMITS, contentTypeProblem, filenameProblem } from "@workflow/definition";
import type { EmailAttachment } from "@workflow/proto/integrations/v1/email";
import type { NamedFile } from "../files/file.ts";
import type { Refuse } from "./refuse.ts";

const MIB = 1024 * 1024;

/** Checks the files of a request; wrong ones are left out of the result. */
export function parseAttachments(
  attachments: readonly EmailAttachment[],
  refuse: Refuse,
): NamedFile[] {
  const { countMax, bytesMax } = ATTACHMENT_LIMITS;
  if (attachments.length > countMax) {
    refuse(["attachments"], `must have at most ${countMax} files`);
    return [];
  }
  const files = attachments.flatMap((attachment, index) => {
    const file = parseAttachment(attachment, ["attachments", String(index)], refuse);
    return file === null ? [] : [file];
  });
  const bytes = files.reduce(
    (sum, { source }) => sum + (source.$case === "content" ? source.value.length : 0),
    0,
  );
  if (bytes > bytesMax) refuse(["attachments"], `must have at most ${bytesMax / MIB} MiB together`);
  return files;
}

function parseAttachment(
  { filename, contentType, source }: EmailAttachment,
  path: string[],
  refuse: Refuse,
): NamedFile | null {
  const nameProblem = filenameProblem(filename);
  if (nameProblem !== null) refuse([...path, "filename"], nameProblem);
  const typeProblem = contentType === undefined ? null : contentTypeProblem(contentType);
  if (typeProblem !== null) refuse([...path, "contentType"], typeProblem);
  if (source === undefined) refuse(path, "has either content or url");
  if (source?.$case === "url" && source.value.length > ATTACHMENT_LIMITS.urlCharsMax) {
    refuse([...path, "url"], `must have at most ${ATTACHMENT_LIMITS.urlCharsMax} characters`);
  }
  return source === undefined ? null : { filename, contentType, source };
}
