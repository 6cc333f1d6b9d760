-- What expires next: those that have expired stay for a while, and are not to be looked through each time.
create index signing_request_due on signing_request (expires_at) where status = 'pending';
