-- How many recipients a company's e-mails had, by UTC day (D61). What is not limited is not counted.

create table integrations.email_usage (
  company_id uuid not null,
  day date not null,
  recipients integer not null,
  constraint email_usage_pkey primary key (company_id, day),
  constraint email_usage_recipients check (recipients >= 0)
);
create index email_usage_by_day on integrations.email_usage (day);
