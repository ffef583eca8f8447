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
