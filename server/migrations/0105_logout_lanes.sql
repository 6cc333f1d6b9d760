-- Until when an app counts as slow to take logout tokens: it let us wait or failed lately. Slow ones have slots of
-- their own.
create table session_logout_receiver (
  client_id text primary key,
  slow_until timestamptz not null
);
create index session_logout_receiver_slow on session_logout_receiver (slow_until);

-- The apps that wait for something are found one by one, however much each of them waits for.
create index session_logout_waiting on session_logout (client_id, due_at);
drop index session_logout_due;
