-- The audit trail: one row for each act that a person, an app or an operator would ask about later.
create table audit_entry (
  entry_id uuid primary key,
  at timestamptz not null,
  action text not null,
  actor text not null check (actor in ('person', 'app', 'operator', 'system')),
  user_id uuid,
  identity_id uuid,
  client_id text,
  details jsonb not null default '{}'
);
create index audit_entry_of_user on audit_entry (user_id, entry_id);
