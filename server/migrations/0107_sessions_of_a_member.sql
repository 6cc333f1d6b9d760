-- The sessions that an organization opened for one member are found without reading those of its other members.
create index session_of_organization_member on session (organization_id, identity_id) where organization_id is not null;
drop index session_of_organization;
