-- Run as workflow_owner in the database workflow, with psql, after the first migrate:
--   psql -v gateway="'…'" -v workflows="'…'" -v runs="'…'" -v tables="'…'" \
--     -v integrations="'…'" -v webhooks="'…'" -f logins.sql
create role gateway_login login password :gateway in role workflow_gateway;
create role workflows_login login password :workflows in role workflow_workflows;
create role runs_login login password :runs in role workflow_runs;
create role tables_login login password :tables in role workflow_tables;
create role integrations_login login password :integrations in role workflow_integrations;
create role webhooks_login login password :webhooks in role workflow_webhooks;
grant connect on database workflow
  to gateway_login, workflows_login, runs_login, tables_login, integrations_login,
  webhooks_login;
