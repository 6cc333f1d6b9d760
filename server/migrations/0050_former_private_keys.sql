-- The private half of a signing key that was replaced is forgotten at the rotation after that: null from then on.
alter table signing_key alter column encrypted_private_key drop not null;
update signing_key set encrypted_private_key = null
where ended_at is not null and encrypted_private_key is not null and exists (
  select from signing_key later
  where later.identity_id = signing_key.identity_id and later.key_version > signing_key.key_version + 1
);
alter table signing_key add constraint signing_key_private_check
  check (encrypted_private_key is not null or ended_at is not null);
