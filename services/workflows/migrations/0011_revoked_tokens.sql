-- Minted tokens that were taken back: the admin command writes here, the service refuses them.
create table workflows.revoked_tokens (
  jti text collate "C" not null,
  -- From then on the token is refused anyway.
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3) not null default now(),
  constraint revoked_tokens_pkey primary key (jti)
);
create index revoked_tokens_expiry_idx on workflows.revoked_tokens (expires_at);
