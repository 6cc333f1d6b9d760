-- Two more ceremonies: adding a passkey, and recovering. Made anew, since not every engine gives an unnamed constraint
-- the same name; who was amid a ceremony of five minutes begins it again.
drop table passkey_flow;
create table passkey_flow (
  flow_id uuid primary key,
  ceremony text not null check (ceremony in ('register', 'sign in', 'reauthenticate', 'add passkey', 'recover')),
  challenge text not null,
  user_id uuid,
  identity_id uuid,
  handle text,
  display_name text,
  -- The recovery code that was shown: only while it is in force can the ceremony be finished.
  recovery_sha256 bytea,
  expires_at timestamptz not null,
  check ((ceremony = 'register') = (handle is not null and display_name is not null and identity_id is not null)),
  check ((ceremony = 'sign in') = (user_id is null)),
  check ((ceremony = 'recover') = (recovery_sha256 is not null))
);
create index passkey_flow_expiry on passkey_flow (expires_at);

-- The sweep finds sessions that were idle for too long.
create index session_last_seen on session (last_seen_at);
