alter table runs.runs validate constraint runs_trigger_type;
