-- The keys that sign our tokens. Processes that start together agree on the row that was first.
create table token_signing_key (
  algorithm text not null check (algorithm in ('RS256', 'ES256', 'EdDSA')),
  version integer not null,
  kid text not null,
  public_jwk text not null,
  sealed_private_key text not null,
  created_at timestamptz not null,
  primary key (algorithm, version)
);

-- All that descends from one consent: its authorization code, and the refresh tokens of each generation. One row, so
-- that to redeem, to rotate or to revoke is one statement, and whichever comes first wins.
create table token_lineage (
  identity_id uuid not null,
  lineage_id uuid not null,
  client_id text not null,
  session_id uuid not null,
  scope text[] not null,
  auth_time timestamptz not null,
  created_at timestamptz not null,

  code_sha256 bytea not null,
  code_expires_at timestamptz not null,
  code_spent_at timestamptz,
  redirect_uri text not null,
  code_challenge text,
  nonce text,

  -- The live refresh tokens are siblings of one generation; the spent ones are those of the generation before.
  -- Any older token of the family is known by the secret that all of the family carry.
  family_sha256 bytea,
  generation integer not null default 0,
  live_sha256 bytea[] not null default '{}',
  spent_sha256 bytea[] not null default '{}',
  rotated_at timestamptz,

  revoked_at timestamptz,
  ends_at timestamptz not null,
  primary key (identity_id, lineage_id)
);
create index token_lineage_of_client on token_lineage (identity_id, client_id);
create index token_lineage_end on token_lineage (ends_at);

create table token_access (
  identity_id uuid not null,
  token_sha256 bytea not null,
  lineage_id uuid not null,
  scope text[] not null,
  expires_at timestamptz not null,
  primary key (identity_id, token_sha256)
);
create index token_access_expiry on token_access (expires_at);
