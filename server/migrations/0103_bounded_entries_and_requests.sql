-- When the audit log last recorded that the app revoked an access token of this token family; null if it never did.
alter table token_lineage add column access_revocation_recorded_at timestamptz;

-- Whose quota a kept authorization request takes: the SHA-256 of its client, or of the address it came from. Null for
-- those that an earlier version kept, which end within half an hour.
alter table oauth_pushed_request
  add column source_sha256 bytea check (length(source_sha256) = 32),
  add column created_at timestamptz;
create index oauth_pushed_request_source on oauth_pushed_request (source_sha256, created_at);
