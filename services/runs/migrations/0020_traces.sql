-- The W3C trace context of what started a run, which whoever executes it continues. Only of runs whose trace is
-- recorded, one in a hundred by default; of the others it takes nothing.
alter table runs.runs add column traceparent text collate "C";
