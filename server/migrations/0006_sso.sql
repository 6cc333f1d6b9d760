-- An SSO connection: an identity provider of an organization, at which we are a client. `settings` contains the
-- protocol.
create table sso_connection (
  connection_id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  name text not null,
  settings jsonb not null,
  -- Our client secret at the provider, encrypted; null where the protocol has none.
  sealed_secret text,
  enabled boolean not null,
  -- The email domains whose users sign in with it. They count while the organization has verified them.
  domains text[] not null,
  -- When an administrator last signed in with it as a test.
  tested_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index sso_connection_of_organization on sso_connection (organization_id);

-- Values of a claim or attribute of the provider, and the group whose member a user with that value is.
create table sso_group_rule (
  -- Stays the same as long as the rule does.
  rule_id uuid not null,
  connection_id uuid not null references sso_connection on delete cascade,
  claim text not null,
  -- Compared byte by byte.
  value text collate "C" not null,
  group_id uuid not null references user_group on delete cascade,
  -- Its place among the rules of the connection.
  position integer not null,
  primary key (connection_id, claim, value, group_id)
);
create index sso_group_rule_of_group on sso_group_rule (group_id);

-- The member and identity of a subject of the provider. It counts while that member exists.
create table sso_link (
  connection_id uuid not null references sso_connection on delete cascade,
  subject text not null,
  organization_id uuid not null,
  member_id uuid not null,
  identity_id uuid not null,
  linked_at timestamptz not null,
  -- The verified email address of the latest login, in lower case.
  normalized_email text,
  primary key (connection_id, subject)
);
create index sso_link_by_email on sso_link (connection_id, normalized_email);
create index sso_link_of_identity on sso_link (identity_id);
create index sso_link_of_member on sso_link (organization_id, member_id);

-- A login in progress, bound to one browser. Each step follows the step before, once.
create table sso_login (
  flow_id uuid primary key,
  connection_id uuid not null references sso_connection on delete cascade,
  purpose text not null check (purpose in ('login', 'test')),
  step text not null check (step in ('created', 'started', 'callback_received', 'authenticated', 'completed')),
  -- `state` of the response, or the address of a login that was only created; and the token that only the browser has.
  state_sha256 bytea not null unique,
  browser_token_sha256 bytea,
  sealed_state text,
  return_to text,
  -- The user, as the provider named them.
  subject text,
  email text,
  email_verified boolean,
  display_name text,
  -- The rules of the connection at that time whose values the provider stated.
  rule_ids uuid[] not null default '{}',
  expires_at timestamptz not null,
  -- Whether a link or page of another site started the login. Then the user confirms it before a session is opened.
  started_elsewhere boolean not null default false
);
create index sso_login_by_end on sso_login (expires_at);
create index sso_login_of_connection on sso_login (connection_id);

-- SAML assertions that were accepted: each counts once. A row is kept for as long as its assertion is valid.
create table sso_used_assertion (
  connection_id uuid not null references sso_connection on delete cascade,
  assertion_sha256 bytea not null,
  expires_at timestamptz not null,
  primary key (connection_id, assertion_sha256)
);
create index sso_used_assertion_by_end on sso_used_assertion (expires_at);

-- A directory that provisions the users of a connection by SCIM. Its token is valid for that connection only.
create table sso_scim_directory (
  connection_id uuid primary key references sso_connection on delete cascade,
  organization_id uuid not null,
  -- Which attribute is the subject at the provider: externalId, or a verified email address.
  subject_by text not null check (subject_by in ('externalId', 'email')),
  token_sha256 bytea not null,
  token_created_at timestamptz not null,
  user_count integer not null default 0 check (user_count >= 0)
);

-- A user that the directory provisioned. It has no account by itself.
create table sso_scim_user (
  connection_id uuid not null references sso_scim_directory on delete cascade,
  scim_user_id uuid not null,
  user_name text not null,
  external_id text,
  display_name text,
  given_name text,
  family_name text,
  email text,
  active boolean not null,
  -- The role of the new member; null where the directory sends none.
  role text check (role in ('admin', 'signer', 'member', 'viewer')),
  -- User names are compared without case.
  user_name_key text not null,
  -- The expected subject until the first login; afterwards the subject of that login.
  subject_key text not null,
  subject text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Whether the directory sent the stored address as the primary one. It reads back what it sent.
  email_is_primary boolean not null default true,
  unique (connection_id, user_name_key),
  unique (connection_id, subject_key),
  unique (connection_id, subject),
  primary key (connection_id, scim_user_id)
);
create index sso_scim_user_by_external_id on sso_scim_user (connection_id, external_id);

-- The keys to which SAML providers encrypt responses. The metadata publishes one; former ones decrypt for a while.
create table sso_encryption_key (
  connection_id uuid not null references sso_connection on delete cascade,
  key_id uuid not null,
  -- The published certificate (PEM), and the encrypted private key.
  certificate text not null,
  sealed_key text not null,
  created_at timestamptz not null,
  -- Until when a former key decrypts.
  expires_at timestamptz,
  primary key (connection_id, key_id)
);
create index sso_encryption_key_by_end on sso_encryption_key (expires_at);
create unique index sso_encryption_key_published on sso_encryption_key (connection_id) where expires_at is null;
