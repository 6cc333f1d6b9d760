-- How often something was tried in a window, where processes share their rate limits. Unlogged: it costs no flush of
-- the disk, and after a crash of the database all windows begin anew.
create unlogged table rate_limit_window (
  key_sha256 bytea primary key,
  taken integer not null,
  ends_at timestamptz not null
);
create index rate_limit_window_expiry on rate_limit_window (ends_at);
