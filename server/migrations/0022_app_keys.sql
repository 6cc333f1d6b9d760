-- Whether an app takes keys for end-to-end encryption.
alter table app add column supports_e2ee boolean not null default false;

-- The key of an app for an identity, as the browser of its owner sealed it: a symmetric key, or the private half of a
-- key pair. The server has no key to these texts.
create table authorization_app_key (
  identity_id uuid not null,
  client_id text not null,
  mode text not null check (mode in ('symmetric', 'asymmetric')),
  ciphertext text not null,
  public_key bytea check ((public_key is null) = (mode = 'symmetric')),
  created_at timestamptz not null,
  primary key (identity_id, client_id, mode)
);

-- Whose a public key is, or ever was, among those who use an app: nobody else is found by it.
create table authorization_app_key_owner (
  client_id text not null,
  public_key bytea not null,
  identity_id uuid not null,
  primary key (client_id, public_key)
);
