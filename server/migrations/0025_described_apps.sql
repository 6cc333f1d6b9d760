-- When the document was read in which an app describes itself; null for an app that was registered.
alter table app add column document_read_at timestamptz;
create index app_of_document on app (document_read_at) where document_read_at is not null;

-- Who has connected such an app, whose client id is an address: without them it goes.
create index authorization_consent_of_described on authorization_consent (client_id) where client_id like 'http%';
