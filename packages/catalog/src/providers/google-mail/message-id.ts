import { text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";

/** The message that an action is about. */
export const messageId: ActionInput = text("messageId", {
  title: "Message",
  description: "The id that Gmail gave it, not the header Message-ID",
  required: true,
});
