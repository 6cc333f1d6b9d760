-- An organization, which apps know as a workspace. Its owners are counted in its own row: the last one cannot go.
create table organization (
  organization_id uuid primary key,
  name text not null,
  slug text not null,
  logo_url text,
  status text not null default 'active' check (status in ('active', 'suspended')),
  encryption_mode text not null default 'standard'
    check (encryption_mode in ('standard', 'enterprise_managed', 'e2ee')),
  -- The connection of its own sign-in that is in use: it has been tried, and is enabled. Null while there is none.
  sso_connection_id uuid,
  sso_required boolean not null default false check (not sso_required or sso_connection_id is not null),
  require_signed_actions boolean not null default false,
  owner_count integer not null check (owner_count >= 1),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Whose a slug is: of one organization in all shards.
create table organization_slug (
  slug text primary key,
  organization_id uuid not null
);

-- An identity in an organization. The role says what its scopes were at first; an owner may change them.
create table organization_member (
  organization_id uuid not null references organization on delete cascade,
  member_id uuid not null,
  identity_id uuid not null,
  role text not null check (role in ('owner', 'admin', 'signer', 'member', 'viewer')),
  scopes text[] not null,
  signing_authority boolean not null,
  joined_at timestamptz not null,
  primary key (organization_id, member_id),
  unique (organization_id, identity_id)
);
create index organization_member_of_identity on organization_member (identity_id);

-- Somebody who may join, by handle or by e-mail address. Its token is spent once.
create table organization_invitation (
  organization_id uuid not null references organization on delete cascade,
  invitation_id uuid not null,
  token_sha256 bytea not null,
  identity_id uuid,
  email text,
  role text not null check (role in ('owner', 'admin', 'signer', 'member', 'viewer')),
  invited_by uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  primary key (organization_id, invitation_id),
  check ((identity_id is null) <> (email is null))
);
create index organization_invitation_by_end on organization_invitation (expires_at);
create index organization_invitation_of_identity on organization_invitation (identity_id)
  where identity_id is not null;

-- Which organization an act was of.
alter table audit_entry add column organization_id uuid;
create index audit_entry_of_organization on audit_entry (organization_id, entry_id) where organization_id is not null;
