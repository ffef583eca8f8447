import type { Flag, FlagValues } from "./command.ts";

/** Of commands that only say what they would do, unless they are told to do it. */
export const APPLY_FLAG: Flag = { placeholder: "yes", default: "no" };

/** Added to the text of a dry run. */
const DRY_RUN = "Nothing was changed: this was a dry run. Repeat it with --apply yes.";

/** Whether the command is to change something. */
export function readApply(values: FlagValues): boolean {
  return values.oneOf("apply", ["yes", "no"]) === "yes";
}

/** The text of a command that was, or was not, told to change something. */
export function withDryRunNote(apply: boolean, text: string): string {
  return apply ? text : `${text}\n${DRY_RUN}`;
}
