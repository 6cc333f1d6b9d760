-- Organizations for which the user has signed in to the app with their passkey. SSO alone signs in only to these, once
-- the user has connected the app. Of consents from before this column none is known: such users confirm once.
alter table authorization_consent add column organization_ids uuid[] not null default '{}';
