-- no-transaction
-- Active workflows that are tools of AI clients, by name: of one name a company has one at most.
create unique index concurrently workflows_tools_idx
  on workflows.workflows (company_id, (settings #>> '{mcp,name}'))
  where status = 'active' and (settings #>> '{mcp,name}') is not null;
