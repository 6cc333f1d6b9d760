-- An organization's own sign-in: a provider of theirs, at which we are a client. Its settings say which protocol it is.
create table sso_connection (
  connection_id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  name text not null,
  settings jsonb not null,
  -- What we prove to the provider who we are with, sealed; null where the protocol has no such secret.
  sealed_secret text,
  enabled boolean not null,
  -- The domains of e-mail addresses whose people it signs in. They count while they are verified for the organization.
  domains text[] not null,
  -- When somebody who looks after it signed in with it to see that it works.
  tested_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index sso_connection_of_organization on sso_connection (organization_id);

-- Whom a subject of a provider is: as which member an identity. It counts for as long as there is that member.
create table sso_link (
  connection_id uuid not null references sso_connection on delete cascade,
  subject text not null,
  organization_id uuid not null,
  member_id uuid not null,
  identity_id uuid not null,
  linked_at timestamptz not null,
  primary key (connection_id, subject)
);
create index sso_link_of_member on sso_link (organization_id, member_id);
create index sso_link_of_identity on sso_link (identity_id);

-- A sign-in under way, bound to one browser. Each step takes it on from the step before, once.
create table sso_flow (
  flow_id uuid primary key,
  connection_id uuid not null references sso_connection on delete cascade,
  purpose text not null check (purpose in ('sign in', 'test')),
  step text not null check (step in ('offered', 'begun', 'answered', 'proved', 'over')),
  -- What the provider's answer brings back, or of one that is offered its address; and what only the browser has.
  state_sha256 bytea not null unique,
  browser_sha256 bytea,
  sealed_memory text,
  return_to text,
  -- Whom the provider has named.
  subject text,
  email text,
  email_verified boolean,
  display_name text,
  expires_at timestamptz not null
);
create index sso_flow_by_end on sso_flow (expires_at);
