-- Until when a receiver counts as slow: it let us wait or failed lately. Slow ones have slots of their own.
alter table webhook_endpoint add column slow_until timestamptz;

-- The apps that wait for something are found one by one, however much each of them waits for.
create index webhook_delivery_waiting on webhook_delivery (client_id, due_at) where due_at is not null;
drop index webhook_delivery_due;
