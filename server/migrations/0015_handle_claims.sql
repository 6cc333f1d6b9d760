-- When the identity took the username, which no other identity has had since. Null if unknown: it was taken before this
-- column existed, or through a process of the former version.
alter table identity_handle add column claimed_at timestamptz;
