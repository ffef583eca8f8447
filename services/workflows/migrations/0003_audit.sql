-- The outbox feeds two streams: what other services act upon, and who changed what (D51).
alter table workflows.outbox add column stream text not null default 'workflows';
create index outbox_pending on workflows.outbox (stream, seq) where published_at is null;
drop index workflows.outbox_unpublished;
