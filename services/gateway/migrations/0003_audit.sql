-- Who changed what (D51): a log that only grows, in which each row vouches for all before it.

create table gateway.audit_log (
  -- No foreign key: what a company did outlives the company, and a cascade would delete as the owner.
  company_id uuid not null,
  -- 1, 2, 3, … within the company, in the order of arrival.
  seq bigint not null,
  -- Sorts by the moment at which the change was made.
  event_id text collate "C" not null,
  action text collate "C" not null,
  resource_type text collate "C" not null,
  resource_id text collate "C" not null,
  actor_type text not null,
  actor_id text collate "C" not null,
  actor_name text,
  ip_address text,
  user_agent text,
  request_id text,
  -- The text that was hashed; jsonb would rewrite it.
  changes json not null,
  created_at timestamptz(3) not null,
  -- The hash of the row before; zeros in a company's first.
  prev_hash bytea not null,
  hash bytea not null,
  constraint audit_log_pkey primary key (company_id, seq),
  constraint audit_log_event_key unique (company_id, event_id),
  constraint audit_log_seq_positive check (seq > 0),
  constraint audit_log_hash_length check (octet_length(prev_hash) = 32 and octet_length(hash) = 32)
);
-- A page of each filter is a range of one of these, newest first.
create index audit_log_by_action on gateway.audit_log (company_id, action, event_id);
create index audit_log_by_resource_type on gateway.audit_log (company_id, resource_type, event_id);
create index audit_log_by_resource on gateway.audit_log (company_id, resource_id, event_id);
create index audit_log_by_actor on gateway.audit_log (company_id, actor_id, event_id);

revoke update, delete on gateway.audit_log from workflow_gateway;

-- The end of each company's chain: without it nobody would miss its newest rows.
create table gateway.audit_heads (
  company_id uuid not null,
  seq bigint not null,
  hash bytea not null,
  constraint audit_heads_pkey primary key (company_id)
) with (fillfactor = 50);

revoke insert, update, delete on gateway.audit_heads from workflow_gateway;

-- Takes a row only as the next one of its chain, and moves the chain's end to it. With the rights of
-- the owner: to the gateway's role this is the only way to change the end.
create function gateway.extend_audit_chain() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if new.seq = 1 and new.prev_hash = decode(repeat('00', 32), 'hex') then
    insert into gateway.audit_heads (company_id, seq, hash)
    values (new.company_id, new.seq, new.hash);
  else
    update gateway.audit_heads
    set seq = new.seq, hash = new.hash
    where company_id = new.company_id and seq = new.seq - 1 and hash = new.prev_hash;
    if not found then
      raise exception 'row % does not continue the audit chain of company %', new.seq, new.company_id
        using errcode = 'integrity_constraint_violation', constraint = 'audit_log_chain';
    end if;
  end if;
  return new;
end
$$;
-- Who may execute it could put it on a table of their own.
revoke execute on function gateway.extend_audit_chain() from workflow_gateway;

create trigger audit_log_chain before insert on gateway.audit_log
for each row execute function gateway.extend_audit_chain();

-- Signs the cursors of lists (D6).
create table gateway.cursor_key (
  only_row boolean not null default true,
  key bytea not null,
  constraint cursor_key_pkey primary key (only_row),
  constraint cursor_key_single check (only_row)
);
insert into gateway.cursor_key (key)
values (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
