-- The keys that sign tokens. Processes that start at the same time agree on the row that was inserted first.
create table token_signing_key (
  algorithm text not null check (algorithm in ('RS256', 'ES256', 'EdDSA')),
  version integer not null,
  kid text not null,
  public_jwk text not null,
  sealed_private_key text,
  created_at timestamptz not null,
  -- A key is published before it signs. Its private key is deleted after its last token. Its public key stays longer,
  -- so that an old ID token used as a hint can be verified.
  activates_at timestamptz not null,
  primary key (algorithm, version)
);

-- The tokens of one consent: its authorization code, and the refresh tokens of each generation. It is one row, so that
-- redeeming, rotating and revoking are one statement each, and the first one wins.
create table token_family (
  identity_id uuid not null,
  family_id uuid not null,
  client_id text not null,
  session_id uuid not null,
  scope text[] not null,
  auth_time timestamptz not null,
  created_at timestamptz not null,
  code_sha256 bytea not null,
  code_expires_at timestamptz not null,
  code_redeemed_at timestamptz,
  redirect_uri text not null,
  code_challenge text,
  nonce text,
  -- The current refresh tokens are siblings of one generation; the previous ones are those of the generation before.
  -- Older tokens of the family are recognized by the root that all of them contain.
  refresh_root_sha256 bytea,
  generation integer not null default 0,
  current_refresh_sha256 bytea[] not null default '{}',
  previous_refresh_sha256 bytea[] not null default '{}',
  rotated_at timestamptz,
  revoked_at timestamptz,
  expires_at timestamptz not null,
  organization_id uuid,
  sso_connection_id uuid,
  -- Whether a passkey opened the session of the consent, not only an SSO connection. Null for consents from before this
  -- column.
  authenticated_by_passkey boolean,
  -- The requested scopes, where fewer were granted; null where they equal `scope`.
  requested_scope text[],
  -- Whether the request had `max_age`, so that the ID token contains `auth_time`; and whether it had `prompt=login` and
  -- was answered after an authentication for this request.
  auth_time_requested boolean not null default false,
  login_prompted boolean not null default false,
  -- When the audit log last recorded that the app revoked an access token of this family; null if it never did.
  access_revocation_recorded_at timestamptz,
  primary key (identity_id, family_id),
  check (sso_connection_id is null or organization_id is not null)
);
create index token_family_end on token_family (expires_at);
-- The codes that a new one of the same request replaces, without reading the families of all earlier consents.
create index token_family_unredeemed on token_family (identity_id, client_id, code_challenge)
  where code_redeemed_at is null;
-- Tells whether an app has tokens for an organization, without reading those of other apps.
create index token_family_of_organization_app on token_family (organization_id, client_id)
  where organization_id is not null;

create table token_access_token (
  identity_id uuid not null,
  token_sha256 bytea not null,
  family_id uuid not null,
  scope text[] not null,
  expires_at timestamptz not null,
  -- Reported by introspection. Null for tokens from before this column.
  issued_at timestamptz,
  primary key (identity_id, token_sha256)
);
create index token_access_token_expiry on token_access_token (expires_at);
