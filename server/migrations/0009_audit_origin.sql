-- Where an event came from: the network of the request (/24 of IPv4, /48 of IPv6), and the ID of the request. Null for
-- what no request did, and the ID for what users do to their account, which would join its identities.
alter table audit_event
  add column origin_network text,
  add column origin_request_id uuid;
