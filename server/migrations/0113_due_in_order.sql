-- What is due is found without a look at what is not. A plain condition would have the planner take these for queries of
-- one app, which they serve badly: it would read what all others wait for.
create index webhook_delivery_in_order on webhook_delivery (due_at) where due_at is not null and attempts + 0 >= 0;
create index session_logout_in_order on session_logout (due_at) where attempts + 0 >= 0;
