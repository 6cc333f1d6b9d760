-- When the audit log last recorded that an app asked an identity or organization to sign, and whether the app was
-- connected then: of one app it records one request an hour, and of all that are not connected a few.
create table signing_request_record (
  signer_id uuid not null,
  client_id text not null,
  is_connected boolean not null,
  recorded_at timestamptz not null,
  primary key (signer_id, client_id)
);
create index signing_request_record_age on signing_request_record (recorded_at);
