-- Grows with each event of a group and of its members, so that receivers know the order. Processes of the previous
-- version leave it as it is, and send events without it.
alter table user_group add column event_sequence integer not null default 0;
