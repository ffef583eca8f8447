import { z } from "zod";
import type { ActionDefinition } from "./action.ts";
import { anyValue } from "./inputs.ts";

/** Ends the run as completed; later steps are not executed (D17). */
export const workflowRespond: ActionDefinition = {
  id: "workflow.respond",
  title: "Respond",
  description: "Sets the run's output and ends the run.",
  inputs: z.looseObject({ output: anyValue("The run's output") }),
  outputs: [],
};
