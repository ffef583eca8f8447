/** Names the secrets of one workflow. */
export interface WorkflowKey {
  companyId: string;
  workflowId: string;
}

/** Names one secret. Ids are lower-case: the place is part of what is encrypted. */
export interface SecretPlace extends WorkflowKey {
  key: string;
}
