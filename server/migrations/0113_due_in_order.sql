-- These find what is due without reading the rest. With a plain condition the planner would also use them for queries
-- of one app, which they serve badly: it would read what all other apps wait for.
create index webhook_delivery_in_order on webhook_delivery (due_at) where due_at is not null and attempts + 0 >= 0;
create index session_logout_in_order on session_logout (due_at) where attempts + 0 >= 0;
