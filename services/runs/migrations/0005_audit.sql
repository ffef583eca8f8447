-- The outbox feeds two streams: what becomes of runs, and who changed what (D51).
alter table runs.outbox add column stream text not null default 'runs';
create index outbox_pending on runs.outbox (stream, seq) where published_at is null;
drop index runs.outbox_unpublished;
