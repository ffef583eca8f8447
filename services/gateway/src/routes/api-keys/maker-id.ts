import { z } from "zod";

/** A person or a key, as `createdBy` names it. One that has made nothing is no different from none. */
export const makerId = z
  .uuid("must be the id of a person or of an API key")
  .transform((id) => id.toLowerCase());
