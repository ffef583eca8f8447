-- How many names hold a text decides between the trigram index and a walk along the list. With the 100
-- values that are sampled by default, texts that 2 % of the names hold look as if none did.
alter index workflows.workflows_name_idx alter column 2 set statistics 1000;
