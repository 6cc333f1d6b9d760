-- What the sweeps find by time. No other statement may take these indexes: where the database counted last while nearly
-- nothing waited, it takes them for empty, and reads all that waits for everybody where one row was asked for. So their
-- conditions are written as only the sweeps write them; the database does not conclude them from `status = 'pending'`.
create index signing_request_to_expire on signing_request (expires_at) where status || '' = 'pending';
create index signing_request_to_delete on signing_request (expires_at) where status || '' <> 'signed';
drop index signing_request_due;
drop index signing_request_ended;

create index signing_organization_request_to_expire on signing_organization_request (expires_at)
  where status || '' = 'pending';
create index signing_organization_request_to_delete on signing_organization_request (expires_at)
  where status || '' <> 'signed';
drop index signing_organization_request_due;
drop index signing_organization_request_ended;
