-- The keys to which SAML providers encrypt their answers. Our metadata publishes one; those before it open for a while.
create table sso_encryption_key (
  connection_id uuid not null references sso_connection on delete cascade,
  key_id uuid not null,
  -- What is published (PEM), and the private key, sealed.
  certificate text not null,
  sealed_key text not null,
  created_at timestamptz not null,
  -- Until when a former one opens.
  ends_at timestamptz,
  primary key (connection_id, key_id)
);
create unique index sso_encryption_key_published on sso_encryption_key (connection_id) where ends_at is null;
create index sso_encryption_key_by_end on sso_encryption_key (ends_at);
