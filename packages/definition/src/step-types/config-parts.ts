import { z } from "zod";

/** Nested steps. Each is checked as a step, so this schema says no more. */
export const stepList = z
  .array(z.unknown(), { error: "must be an array of steps" })
  .meta({ description: "Steps, run in this order" });

/** A condition (D18), checked by its own parser. */
export const conditionConfig = z.unknown().meta({
  description:
    "A condition: {left, operator, right?, ignoreCase?}, {all: […]}, {any: […]} or {not: …}",
});

/** The connection that a step uses. The step checks whether the connection fits. */
export const connectionId = z
  .string()
  .min(1)
  .meta({ description: "Id of the connection to use, or a template" });
