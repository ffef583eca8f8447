/** Every status of an approval (D29). */
export const APPROVAL_STATUSES = [
  "waiting",
  "approved",
  "rejected",
  "timed_out",
  "cancelled",
] as const;

/** The status of an approval. */
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];

/** An approval as the run that waits for it sees it. */
export interface ApprovalState {
  id: string;
  status: ApprovalStatus;
  timeoutAt: Date | null;
  decidedBy: string | null;
  comment: string | null;
  /** JSON text. */
  data: string | null;
}

/** The question that one attempt of an approval step asks. */
export interface ApprovalQuestion {
  stepId: string;
  path: string;
  /** Distinguishes the attempts of the step. */
  attempt: string;
  message: string;
  /** JSON text of `{users, roles, apiKeys}`; null when everyone may decide. */
  approvers: string | null;
  /** JSON Schema as text. */
  form: string | null;
  timeoutAt: Date | null;
}
