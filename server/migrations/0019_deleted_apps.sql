-- Apps that were deleted. The cleanup deletes what users granted them when it is certain that they stay deleted: one
-- that is declared again has the same client ID.
create table app_ending (
  client_id text primary key,
  ended_at timestamptz not null,
  -- The last consent, in the order of identities and apps, that the cleanup has examined. Null before it begins.
  last_identity_id uuid,
  last_client_id text,
  check ((last_identity_id is null) = (last_client_id is null))
);
create index app_ending_due on app_ending (ended_at, client_id);
-- Apps that were deleted before this table. It reads all consents once, and keeps no request waiting.
insert into app_ending (client_id, ended_at)
select client_id, now() from (
  select client_id from authorization_consent union select client_id from authorization_app_public_key
) granted
where not exists (select from app where app.client_id = granted.client_id);
