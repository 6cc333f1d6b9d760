-- The primary key finds the lineages of an identity, which are few. With a second way to them, the planner takes the
-- wrong one as long as it has no statistics.
drop index token_lineage_of_client;
