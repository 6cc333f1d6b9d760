-- What only the person's browser opens. The server keeps these texts and has no key to them.
create table encryption_key_wrap (
  user_id uuid not null,
  wrap_id uuid not null,
  kind text not null check (kind in ('passkey_prf', 'recovery_code', 'device')),
  credential_id text,
  ciphertext text not null,
  created_at timestamptz not null,
  primary key (user_id, wrap_id)
);

create table encryption_recovery (
  user_id uuid primary key,
  auth_sha256 bytea not null,
  created_at timestamptz not null
);

create table encryption_identity_key (
  identity_id uuid primary key,
  public_key bytea not null,
  encrypted_private_key text not null,
  created_at timestamptz not null
);

create table signing_key (
  identity_id uuid not null,
  key_version integer not null check (key_version >= 1),
  public_key bytea not null check (length(public_key) = 32),
  encrypted_private_key text not null,
  created_at timestamptz not null,
  primary key (identity_id, key_version)
);

-- Whose a public key is or ever was: no other identity may hold it.
create table signing_key_owner (
  public_key bytea primary key,
  identity_id uuid not null
);
