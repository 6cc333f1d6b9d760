-- What an app offers others to act at, with a person's consent. Small, as the apps are. The id is never used again,
-- as a key is that another app registers after its first owner has gone.
create table app_resource (
  resource_key text primary key,
  resource_id uuid not null unique,
  client_id text not null references app on delete cascade,
  display_name text not null,
  description text,
  scopes text[] not null,
  -- What each scope lets do, in the words of the owner, at the place of the scope; may be empty.
  scope_descriptions text[] not null check (cardinality(scope_descriptions) = cardinality(scopes)),
  -- In the tokens for it (RFC 7519 §4.1.3).
  audience text not null,
  status text not null check (status in ('active', 'disabled')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index app_resource_of_app on app_resource (client_id);
-- Two resources with one audience would take each other's tokens. A slash at its end makes no other.
create unique index app_resource_audience on app_resource (rtrim(audience, '/'));

-- That an app may act at a resource as an identity. What was revoked stays so; a later consent is another grant.
create table delegation_grant (
  identity_id uuid not null,
  delegation_id uuid not null,
  source_client_id text not null,
  resource_id uuid not null,
  scope text[] not null,
  communication_mode text not null check (communication_mode in ('user_present', 'background')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- How often it was used since the trail last said so, and when that was.
  unrecorded_uses integer not null default 0,
  recorded_at timestamptz,
  primary key (identity_id, delegation_id)
);
create unique index delegation_grant_active on delegation_grant (identity_id, source_client_id, resource_id)
  where revoked_at is null;
create index delegation_grant_revoked on delegation_grant (revoked_at) where revoked_at is not null;

-- When an app took tokens by such a grant, to the minute, for which scopes, and how many.
create table delegation_use (
  identity_id uuid not null,
  delegation_id uuid not null,
  used_at timestamptz not null,
  scope text not null,
  count integer not null,
  primary key (identity_id, delegation_id, used_at, scope),
  foreign key (identity_id, delegation_id) references delegation_grant on delete cascade
);
create index delegation_use_by_age on delegation_use (used_at);
