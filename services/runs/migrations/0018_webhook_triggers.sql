-- Workflows that wait for webhooks get what they are found by: what `triggerKeyOf` says of a trigger.

update runs.deployment_heads as head
set trigger_key = case
    when lower(deployment.trigger ->> 'provider' collate "und-x-icu") <> 'custom'
      then 'webhook:provider:' || lower(deployment.trigger ->> 'provider' collate "und-x-icu")
    when deployment.trigger ->> 'path' not like '/%'
      then 'webhook:path:' || translate(
        lower(deployment.trigger ->> 'path' collate "und-x-icu"), '._', '--'
      )
  end
from runs.deployments as deployment
where deployment.id = head.deployment_id
  and deployment.trigger ->> 'type' = 'webhook';

-- Runs by the time of their end, for whoever may have missed the events that they have made. Block ranges:
-- runs are stored near those of their time, and the update that ends one writes no entry of its own: 7.2 KB
-- of WAL a run with the index as without. Making it reads each table once, a second a million small runs,
-- during which runs can't be written.
create index runs_by_end on runs.runs using brin (completed_at)
  with (autosummarize = on, pages_per_range = 32)
  -- Else the planner would look for live runs by it, and find all ranges: each had some once.
  where completed_at is not null;
