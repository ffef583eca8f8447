-- A pause goes with its connection: rows of connections that are gone would be read by every replica.
lock table integrations.connection_pauses in share row exclusive mode;
delete from integrations.connection_pauses as pause
where not exists (
  select from integrations.connections as connection where connection.id = pause.connection_id
);
alter table integrations.connection_pauses
  add constraint connection_pauses_connection_fkey foreign key (connection_id)
    references integrations.connections (id) on delete cascade;
