-- A set of keys is published before it signs, and its private halves go when it has signed its last token. The public
-- ones stay for a while beyond that: they still tell whether an old ID token, handed back as a hint, was ours.
alter table token_signing_key add column signs_at timestamptz;
update token_signing_key set signs_at = created_at;
alter table token_signing_key alter column signs_at set not null;
alter table token_signing_key alter column sealed_private_key drop not null;
