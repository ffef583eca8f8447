-- Whose access is to be taken back: revoking may end an account's access as a whole, also for a connection
-- that was made since.

alter table integrations.revocations
  add column external_account_id text collate "C";
