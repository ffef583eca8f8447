-- Who may call: companies, their people and their API keys.

create table gateway.companies (
  id uuid not null,
  name text not null,
  created_at timestamptz(3) not null default now(),
  constraint companies_pkey primary key (id),
  constraint companies_name_length check (char_length(name) between 1 and 255)
);

-- A person. E-mail addresses are stored in lower case, so that a plain unique index is enough.
create table gateway.users (
  id uuid not null,
  email text not null,
  name text not null,
  -- scrypt in PHC string form: the parameters stand beside the salt, so they can be raised later.
  password_hash text not null,
  created_at timestamptz(3) not null default now(),
  constraint users_pkey primary key (id),
  constraint users_email_key unique (email),
  constraint users_email_lower_case check (email = lower(email)),
  constraint users_email_length check (char_length(email) between 3 and 254),
  constraint users_name_length check (char_length(name) between 1 and 255)
);

create table gateway.memberships (
  company_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamptz(3) not null default now(),
  constraint memberships_pkey primary key (company_id, user_id),
  constraint memberships_company_fkey foreign key (company_id)
    references gateway.companies (id) on delete cascade,
  constraint memberships_user_fkey foreign key (user_id)
    references gateway.users (id) on delete cascade,
  constraint memberships_role_known check (role in ('owner', 'admin', 'member', 'viewer'))
);

create index memberships_user_idx on gateway.memberships (user_id);

create table gateway.api_keys (
  id uuid not null,
  company_id uuid not null,
  name text not null,
  -- SHA-256 of the key. The key has 190 random bits, so a fast hash without salt gives nothing away.
  key_hash bytea not null,
  -- The first characters of the key, for people to tell keys apart.
  key_prefix text not null,
  scopes text[] not null,
  -- The user or the API key that made it; null for the admin command.
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  -- Written in the background, at most once a minute.
  last_used_at timestamptz(3),
  constraint api_keys_pkey primary key (id),
  constraint api_keys_hash_key unique (key_hash),
  constraint api_keys_hash_length check (octet_length(key_hash) = 32),
  constraint api_keys_name_length check (char_length(name) between 1 and 255),
  constraint api_keys_company_fkey foreign key (company_id)
    references gateway.companies (id) on delete cascade
);

create index api_keys_list_idx on gateway.api_keys (company_id, created_at desc, id desc);
