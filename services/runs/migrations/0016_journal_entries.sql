-- Entries of a run's journal are counted, so that one whose answer was lost can be asked about and kept
-- from arriving late. A constant default: no row is written.
do $$
begin
  -- Whoever waits for such a lock holds up every query behind it, so each wait is short.
  set local lock_timeout to '200ms';
  for attempt in 1..150 loop
    begin
      alter table runs.runs add column journal_entry bigint not null default 0;
      exit;
    exception when lock_not_available then
      if attempt = 150 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
end
$$;
