-- Passkeys (WebAuthn §4, credential record), found by their credential id.
create table passkey_credential (
  credential_id text primary key,
  user_id uuid not null,
  public_key bytea not null,
  sign_count bigint not null,
  backup_eligible boolean not null,
  backed_up boolean not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null
);
create index passkey_credential_of_user on passkey_credential (user_id);

-- A ceremony that has begun. It is taken out when it is finished, so it can be finished once.
create table passkey_flow (
  flow_id uuid primary key,
  ceremony text not null check (ceremony in ('register', 'sign in', 'reauthenticate')),
  challenge text not null,
  user_id uuid,
  identity_id uuid,
  handle text,
  display_name text,
  expires_at timestamptz not null,
  check ((ceremony = 'register') = (handle is not null and display_name is not null and identity_id is not null)),
  check ((ceremony = 'sign in') = (user_id is null))
);
create index passkey_flow_expiry on passkey_flow (expires_at);
