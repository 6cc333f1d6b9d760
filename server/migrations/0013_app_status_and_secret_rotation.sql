-- A disabled app is as if it were not registered, until it is active again.
alter table app add column status text not null default 'active' check (status in ('active', 'disabled'));

-- A secret that was replaced works until then; null for the one in force.
alter table app_secret add column expires_at timestamptz;
