import type { Database } from "@workflow/db";
import type { AuditTrail } from "@workflow/events";
import type { Mail } from "./email/mail.ts";
import type { KeyRing } from "./encryption/key-ring.ts";
import type { UseRecorder } from "./use-recorder.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  ring: KeyRing;
  uses: UseRecorder;
  mail: Mail;
  audit: AuditTrail;
}
