import { z } from "zod";

/** The people, roles and API keys that an approval step names, as they are stored with the approval. */
export const approversSchema = z.object({
  users: z.array(z.string()).default([]),
  roles: z.array(z.string()).default([]),
  apiKeys: z.array(z.string()).default([]),
});

/** Who may decide an approval. */
export type Approvers = z.output<typeof approversSchema>;
