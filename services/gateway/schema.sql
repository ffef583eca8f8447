table gateway.api_keys
  column id uuid not null
  column company_id uuid not null
  column name text not null
  column key_hash bytea not null
  column key_prefix text not null
  column scopes text[] not null
  column created_by uuid
  column created_at timestamp(3) with time zone not null default now()
  column expires_at timestamp(3) with time zone
  column revoked_at timestamp(3) with time zone
  column last_used_at timestamp(3) with time zone
  constraint api_keys_company_fkey FOREIGN KEY (company_id) REFERENCES gateway.companies(id) ON DELETE CASCADE
  constraint api_keys_hash_key UNIQUE (key_hash)
  constraint api_keys_hash_length CHECK ((octet_length(key_hash) = 32))
  constraint api_keys_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint api_keys_pkey PRIMARY KEY (id)
  CREATE INDEX api_keys_list_idx ON gateway.api_keys USING btree (company_id, created_at DESC, id DESC)

table gateway.companies
  column id uuid not null
  column name text not null
  column created_at timestamp(3) with time zone not null default now()
  constraint companies_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint companies_pkey PRIMARY KEY (id)

table gateway.memberships
  column company_id uuid not null
  column user_id uuid not null
  column role text not null
  column created_at timestamp(3) with time zone not null default now()
  constraint memberships_company_fkey FOREIGN KEY (company_id) REFERENCES gateway.companies(id) ON DELETE CASCADE
  constraint memberships_pkey PRIMARY KEY (company_id, user_id)
  constraint memberships_role_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
  constraint memberships_user_fkey FOREIGN KEY (user_id) REFERENCES gateway.users(id) ON DELETE CASCADE
  CREATE INDEX memberships_user_idx ON gateway.memberships USING btree (user_id)

table gateway.users
  column id uuid not null
  column email text not null
  column name text not null
  column password_hash text not null
  column created_at timestamp(3) with time zone not null default now()
  constraint users_email_key UNIQUE (email)
  constraint users_email_length CHECK (((char_length(email) >= 3) AND (char_length(email) <= 254)))
  constraint users_email_lower_case CHECK ((email = lower(email)))
  constraint users_name_length CHECK (((char_length(name) >= 1) AND (char_length(name) <= 255)))
  constraint users_pkey PRIMARY KEY (id)
