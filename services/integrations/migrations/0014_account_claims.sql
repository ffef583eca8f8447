-- Accounts that nothing proves: who names one first has it, until that connection ends. A column rather than the
-- provider's name decides: during an upgrade replicas of the version before store duplicates, which an index over the
-- name would answer with errors. What they store meanwhile claims nothing; its account may be claimed once more.
alter table integrations.connections
  add column account_claimed boolean not null default false;
-- Of those that were there before, the oldest keeps it; the others have to name another one.
update integrations.connections as connection
set account_claimed = connection.id = first.id,
  external_account_id = case
    when connection.id = first.id then connection.external_account_id
  end
from (
  select distinct on (claim.external_account_id) claim.external_account_id, claim.id
  from integrations.connections as claim
  where claim.provider = 'finance' and claim.external_account_id is not null
    and claim.status not in ('disconnected', 'abandoned')
  order by claim.external_account_id, claim.id
) as first
where connection.provider = 'finance'
  and connection.external_account_id = first.external_account_id;
create unique index connections_account_claim_key
  on integrations.connections (provider, external_account_id)
  where account_claimed and status not in ('disconnected', 'abandoned');

-- Those whose renewal was asked for when nobody could be asked: it is tried again.
create index connections_not_renewed
  on integrations.connections (renew_after)
  where status = 'error' and error_code = 'not_renewed';
