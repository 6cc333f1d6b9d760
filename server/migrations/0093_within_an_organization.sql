-- Whether an app acts for an organization is seen without reading what others have for it.
create index token_lineage_of_organization_app on token_lineage (organization_id, client_id)
  where organization_id is not null;
drop index token_lineage_of_organization;
