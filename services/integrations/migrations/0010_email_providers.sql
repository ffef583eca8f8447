-- The id that a provider gave a message: a repeated call answers it again. Null: it went to the mail
-- server, where a message goes by its Message-ID.
alter table integrations.email_sends add column provider_message_id text;
