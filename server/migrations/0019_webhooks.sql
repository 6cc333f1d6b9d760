-- Where an app hears of what happened. Disabled: the receiver said that it is gone (410).
create table webhook_endpoint (
  client_id text primary key references app on delete cascade,
  url text not null,
  disabled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- What signs it. Sealed, and not hashed: we need the secret itself. One that was replaced signs beside the new one
-- until then; null for the one in force.
create table webhook_secret (
  client_id text not null references webhook_endpoint on delete cascade,
  secret_id uuid not null,
  sealed_secret text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  primary key (client_id, secret_id)
);

-- What an app is to hear. `due_at` is when it is sent next; while somebody sends it, when others may take it over; null
-- when it has ended. The number of attempts tells a sender that was overtaken.
create table webhook_delivery (
  client_id text not null references webhook_endpoint on delete cascade,
  delivery_id uuid not null,
  type text not null,
  payload text not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts integer not null default 0,
  created_at timestamptz not null,
  due_at timestamptz,
  primary key (client_id, delivery_id),
  check ((state = 'waiting') = (due_at is not null))
);
create index webhook_delivery_due on webhook_delivery (due_at) where due_at is not null;
create index webhook_delivery_created on webhook_delivery (created_at);

-- How each attempt ended: with a status, or a word on why there was none.
create table webhook_attempt (
  client_id text not null,
  delivery_id uuid not null,
  attempt integer not null,
  at timestamptz not null,
  status integer,
  reason text,
  primary key (client_id, delivery_id, attempt),
  foreign key (client_id, delivery_id) references webhook_delivery on delete cascade,
  check ((status is null) <> (reason is null))
);
