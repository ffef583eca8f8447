-- Persons in several companies (D65), who made a key, and what slows down those who guess at one
-- account from many addresses.

-- A company wants somebody as a member whose e-mail address already has an account. Kept by address,
-- not by account: when that account is removed, the oldest invitation becomes the next one.
create table gateway.invitations (
  -- Shown to the company as the member's id; becomes the person's if no account stands in the way.
  id uuid not null,
  company_id uuid not null,
  email text not null,
  name text not null,
  role text not null,
  -- Of the password that the company hands over: it accepts the invitation.
  password_hash text not null,
  created_at timestamptz(3) not null default now(),
  constraint invitations_pkey primary key (id),
  constraint invitations_company_email_key unique (company_id, email),
  constraint invitations_company_fkey foreign key (company_id)
    references gateway.companies (id) on delete cascade,
  constraint invitations_email_lower_case check (email = lower(email)),
  constraint invitations_email_length check (char_length(email) between 3 and 254),
  constraint invitations_name_length check (char_length(name) between 1 and 255),
  constraint invitations_role_known check (role in ('owner', 'admin', 'member', 'viewer'))
);
create index invitations_email_idx on gateway.invitations (email, created_at, id);
-- A page of members is a range of each of these.
create index invitations_list_idx on gateway.invitations (company_id, created_at desc, id desc);
create index memberships_list_idx on gateway.memberships (company_id, created_at desc, user_id desc);

-- The maker's name at that time: persons who leave their last company are forgotten, keys stay.
alter table gateway.api_keys add column created_by_name text;
create index api_keys_created_by_idx on gateway.api_keys (company_id, created_by);

-- Tries to sign in to an account that did not succeed yet, over all addresses or from one known one.
-- Unknown e-mail addresses have rows as well: nothing tells the two apart. Rows are removed in time.
create table gateway.account_tries (
  -- SHA-256 of the e-mail address, or of it with a network.
  subject bytea not null,
  failures integer not null,
  next_try_at timestamptz not null,
  last_tried_at timestamptz not null,
  -- When the audit log was last told that tries are refused.
  refusal_noted_at timestamptz,
  constraint account_tries_pkey primary key (subject),
  constraint account_tries_subject_length check (octet_length(subject) = 32)
);
create index account_tries_last_idx on gateway.account_tries (last_tried_at);

-- From where a person has signed in lately: strangers' tries elsewhere do not hold them up there.
create table gateway.known_networks (
  user_id uuid not null,
  -- SHA-256 of e-mail address and network.
  network bytea not null,
  last_signed_in_at timestamptz not null,
  constraint known_networks_pkey primary key (user_id, network),
  constraint known_networks_user_fkey foreign key (user_id)
    references gateway.users (id) on delete cascade,
  constraint known_networks_length check (octet_length(network) = 32)
);
