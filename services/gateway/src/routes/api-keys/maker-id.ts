import { z } from "zod";

/**
 * A person or a key, as `createdBy` names it. An unknown id lists nothing, like one that has
 * created nothing.
 */
export const makerId = z
  .uuid("must be the id of a person or of an API key")
  .transform((id) => id.toLowerCase())
  .meta({ examples: ["0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a"] });
