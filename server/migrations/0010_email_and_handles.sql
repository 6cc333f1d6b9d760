-- An address that someone says is theirs, until they have shown the code that was mailed to it. One for each identity;
-- the code only as a MAC, under a key that the database does not hold.
create table identity_email_proof (
  identity_id uuid primary key,
  email text not null,
  code_mac bytea not null,
  tries integer not null default 0 check (tries between 0 and 5),
  expires_at timestamptz not null
);
create index identity_email_proof_expiry on identity_email_proof (expires_at);

-- A handle that was given up waits until free_at. Until then nobody may take it but the identity that had it; where
-- that is gone there is none.
alter table identity_handle add column free_at timestamptz;
alter table identity_handle alter column identity_id drop not null;
alter table identity_handle add constraint identity_handle_owner check (identity_id is not null or free_at is not null);
create index identity_handle_free on identity_handle (free_at);
create index identity_handle_of_identity on identity_handle (identity_id);

-- What happened to an identity, whoever did it.
create index audit_entry_of_identity on audit_entry (identity_id, entry_id);
