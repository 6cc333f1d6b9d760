-- The ID of the next SSO connection of the organization: the URLs in it can be registered at the provider first.
alter table organization add column next_sso_connection_id uuid not null default gen_random_uuid();
