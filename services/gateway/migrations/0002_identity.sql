-- Sessions of people, and what slows down those who guess passwords.

-- The company of a person's last sign-in is the one that the next sign-in without a choice means.
alter table gateway.memberships add column last_signed_in_at timestamptz(3);

-- A session ends with its row: on sign-out, on a change of the password, and with the membership.
create table gateway.sessions (
  id uuid not null,
  -- SHA-256 of the token in the cookie. The token has 256 random bits, see api_keys.key_hash.
  token_hash bytea not null,
  company_id uuid not null,
  user_id uuid not null,
  created_at timestamptz(3) not null default now(),
  -- Written in the background, at most once a minute; a session that rests for too long has ended.
  last_used_at timestamptz(3) not null default now(),
  -- The end of a session that is used all the time.
  expires_at timestamptz(3) not null,
  constraint sessions_pkey primary key (id),
  constraint sessions_token_key unique (token_hash),
  constraint sessions_token_length check (octet_length(token_hash) = 32),
  constraint sessions_membership_fkey foreign key (company_id, user_id)
    references gateway.memberships (company_id, user_id) on delete cascade
);

create index sessions_user_idx on gateway.sessions (user_id);
create index sessions_membership_idx on gateway.sessions (company_id, user_id);
create index sessions_expires_idx on gateway.sessions (expires_at);

-- Recent tries to sign in. Rows are removed a minute after the last try, and never hold more times
-- than the limit allows.
create table gateway.sign_in_tries (
  -- SHA-256 of whom the limit is about: an address, or an address with an e-mail address.
  subject bytea not null,
  tried_at timestamptz[] not null,
  last_tried_at timestamptz not null,
  constraint sign_in_tries_pkey primary key (subject),
  constraint sign_in_tries_subject_length check (octet_length(subject) = 32)
);

create index sign_in_tries_last_idx on gateway.sign_in_tries (last_tried_at);
