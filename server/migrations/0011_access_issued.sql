-- When an access token was issued, for who asks about it. A token from before this migration does not say.
alter table token_access add column issued_at timestamptz;
