-- Rate limits that an operator has set for single companies (D9): requests in any minute of each caller, 0 is
-- no limit, null is as the settings say.
alter table gateway.companies
  add column rate_limit_read integer,
  add column rate_limit_write integer,
  add column rate_limit_execute integer,
  add constraint companies_rate_limits_range check (
    least(rate_limit_read, rate_limit_write, rate_limit_execute) >= 0
  );
