-- The operator reads the apps a page at a time, the newest first.
create index app_in_order on app (created_at, client_id);
