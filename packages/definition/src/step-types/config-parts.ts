import { z } from "zod";

/** Nested steps; each is checked as a step of its own, so the schema says no more than this. */
export const stepList = z
  .array(z.unknown(), { error: "must be an array of steps" })
  .meta({ description: "Steps, run in this order" });

/** A condition (D18), checked by its own parser. */
export const conditionConfig = z.unknown().meta({
  description:
    "A condition: {left, operator, right?, ignoreCase?}, {all: […]}, {any: […]} or {not: …}",
});

/** The connection that a step uses; which it may be is known where the step runs. */
export const connectionId = z
  .string()
  .min(1)
  .meta({ description: "Id of the connection to use, or a template" });
