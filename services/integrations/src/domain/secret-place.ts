/** Identifies the secrets of a workflow. */
export interface WorkflowKey {
  companyId: string;
  workflowId: string;
}

/** Identifies a secret. Ids are in lower case, because the place is part of the encryption. */
export interface SecretPlace extends WorkflowKey {
  key: string;
}
