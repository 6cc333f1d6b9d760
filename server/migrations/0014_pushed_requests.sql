-- Authorization requests that apps have pushed (RFC 9126), by the hash of their reference. expires_at moves once, when
-- the person's page is opened. The parameters are JSON that nothing here looks into.
create table oauth_pushed_request (
  reference_sha256 bytea primary key,
  client_id text not null,
  parameters text not null,
  opened_at timestamptz,
  expires_at timestamptz not null
);
create index oauth_pushed_request_expiry on oauth_pushed_request (expires_at);
