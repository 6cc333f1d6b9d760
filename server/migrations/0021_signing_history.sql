-- What a person was asked to sign, the newest first.
create index signing_request_of_identity on signing_request (identity_id, created_at, request_id);

-- The handle under which it was signed, for its receipt: they may have another since.
alter table signing_request add column signed_as text;
