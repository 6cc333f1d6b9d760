-- Which app an identity has connected, and with which scopes: the recorded consent.
create table authorization_consent (
  identity_id uuid not null,
  client_id text not null,
  authorization_id uuid not null,
  scope text[] not null,
  created_at timestamptz not null,
  last_authorized_at timestamptz not null,
  primary key (identity_id, client_id)
);
