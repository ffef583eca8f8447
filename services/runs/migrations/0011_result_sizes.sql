-- Sizes of step results, so that what fits into an answer or into memory is known without reading it.

alter table runs.step_results
  -- Bytes of the JSON text in UTF-8, 0 when there is none; null for rows that an earlier version of the
  -- service has stored.
  add column input_bytes integer,
  add column output_bytes integer;
