-- The assertions of SAML providers that have been taken: each counts once. They are kept for as long as they would.
create table sso_assertion (
  connection_id uuid not null references sso_connection on delete cascade,
  assertion_sha256 bytea not null,
  expires_at timestamptz not null,
  primary key (connection_id, assertion_sha256)
);
create index sso_assertion_by_end on sso_assertion (expires_at);
