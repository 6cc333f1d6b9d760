-- Where an event came from: the network of the request (/24 of IPv4, /48 of IPv6) and, unless a user acted, its ID. The
-- requests of users have none, because they can touch several identities of one user.
alter table audit_event
  add column origin_network text,
  add column origin_request_id uuid,
  -- True if the chain covers these columns. Processes of version 0.1.0, which do not know them, number events too.
  add column origin_is_chained boolean;
