table webhooks.revoked_tokens
  column jti text collate "C" not null
  column expires_at timestamp(3) with time zone not null
  column revoked_at timestamp(3) with time zone not null default now()
  constraint revoked_tokens_pkey PRIMARY KEY (jti)
  CREATE INDEX revoked_tokens_expiry_idx ON webhooks.revoked_tokens USING btree (expires_at)
