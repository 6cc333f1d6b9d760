-- What goes with an account, an organization or a connection is found by it, however much there is of others.
create index organization_slug_of_organization on organization_slug (organization_id);
create index sso_flow_of_connection on sso_flow (connection_id);
create index passkey_flow_of_user on passkey_flow (user_id);
