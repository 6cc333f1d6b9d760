-- Organizations that were suspended or deleted while they had more tokens than one request revokes. The cleanup revokes
-- the others, and notifies their apps. An organization is not reactivated before.
create table organization_ending (
  organization_id uuid primary key,
  ended_at timestamptz not null
);
-- Groups of organizations that have had more members than one request removes. The cleanup continues.
create table group_ending (
  group_id uuid not null references user_group on delete cascade,
  -- `upstream:` and the ID of an SSO connection: memberships end that none of its current rules gives. `upstream`
  -- alone: the organization was suspended, and all memberships end.
  source text not null check (source like 'upstream%'),
  -- The last identity, in their order, whose memberships have ended.
  last_id uuid,
  primary key (group_id, source)
);
-- Finds tokens that are left to revoke. The condition keeps other statements from using it.
create index concurrently if not exists token_family_to_revoke on token_family (organization_id)
  where organization_id is not null and num_nonnulls(revoked_at) = 0;
