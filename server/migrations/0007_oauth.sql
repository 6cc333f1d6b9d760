-- The recorded consent: which app an identity connected, and with which scopes.
create table authorization_consent (
  identity_id uuid not null,
  client_id text not null,
  authorization_id uuid not null,
  scope text[] not null,
  created_at timestamptz not null,
  last_authorized_at timestamptz not null,
  -- The choice of the user on the consent page; null where there was none. Consents from before this column count as
  -- `create`.
  organization_access text default 'create' check (organization_access in ('none', 'read', 'create')),
  primary key (identity_id, client_id)
);
-- Finds the consents of an app whose client id is a URL. Such an app is deleted with its last consent.
create index authorization_consent_of_described on authorization_consent (client_id) where client_id like 'http%';

-- Pushed authorization requests (RFC 9126), by the hash of the request_uri. `expires_at` moves once, when the page is
-- first opened. `parameters` is JSON that the database does not read.
create table oauth_pushed_request (
  request_uri_sha256 bytea primary key,
  client_id text not null,
  parameters text not null,
  first_used_at timestamptz,
  expires_at timestamptz not null,
  -- What a request to /connect asks for at the resource of another app. Null for requests to /signin.
  connector text,
  -- Whose quota the request uses: SHA-256 of the client, or of the network address.
  source_sha256 bytea check (length(source_sha256) = 32),
  created_at timestamptz
);
create index oauth_pushed_request_expiry on oauth_pushed_request (expires_at);
create index oauth_pushed_request_source on oauth_pushed_request (source_sha256, created_at);

-- The key of an app for an identity, as the browser of its owner encrypted it: a symmetric key, or the private key of a
-- key pair. The server has no key for these texts.
create table authorization_app_key (
  identity_id uuid not null,
  client_id text not null,
  mode text not null check (mode in ('symmetric', 'asymmetric')),
  ciphertext text not null,
  public_key bytea,
  created_at timestamptz not null,
  primary key (identity_id, client_id, mode),
  check ((public_key is null) = (mode = 'symmetric'))
);

-- The current and former public keys of the users of an app. They are deleted with the identity.
create table authorization_app_public_key (
  client_id text not null,
  public_key bytea not null,
  identity_id uuid not null,
  primary key (client_id, public_key)
);
create index authorization_app_public_key_identity on authorization_app_public_key (identity_id);

-- An app may act at a resource as an identity. A revoked row stays revoked; a later consent inserts another.
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
  -- How often it was used since the audit log last recorded that, and when it did.
  unaudited_use_count integer not null default 0,
  use_audited_at timestamptz,
  primary key (identity_id, delegation_id)
);
create unique index delegation_grant_active on delegation_grant (identity_id, source_client_id, resource_id)
  where revoked_at is null;
create index delegation_grant_revoked on delegation_grant (revoked_at) where revoked_at is not null;

-- A browser-mediated sign-in that the user finishes in a window. `request` is the request of the app.
create table fedcm_continuation (
  reference_sha256 bytea primary key,
  user_id uuid not null,
  session_id uuid not null,
  client_id text not null,
  origin text not null,
  request text not null,
  expires_at timestamptz not null
);
create index fedcm_continuation_due on fedcm_continuation (expires_at);
create index fedcm_continuation_of_user on fedcm_continuation (user_id);

-- Tokens that an app obtained by a delegation, by minute: for which scopes, and how many.
create table delegation_usage (
  identity_id uuid not null,
  delegation_id uuid not null,
  used_at timestamptz not null,
  scope text[] not null,
  count integer not null,
  primary key (identity_id, delegation_id, used_at)
);
create index delegation_usage_by_age on delegation_usage (used_at);

-- Deleted identities that had delegations. Cleanup deletes their usage.
create table delegation_former_identity (
  identity_id uuid primary key
);
