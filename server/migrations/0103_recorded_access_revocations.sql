-- When the audit log last recorded that the app revoked an access token of this token family; null if it never did.
alter table token_lineage add column access_revocation_recorded_at timestamptz;
