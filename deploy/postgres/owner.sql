-- Run as a superuser, with psql, once:
--   psql -v password="'…'" -f owner.sql
-- createrole: migrations make one role for each service.
create role workflow_owner login createrole password :password;
create database workflow owner workflow_owner;
-- Others have no business in this database.
revoke connect on database workflow from public;
