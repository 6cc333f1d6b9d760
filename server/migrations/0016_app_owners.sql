-- The person who registered an app and looks after it; null for an app of the operator's.
alter table app add column owner_user_id uuid;
create index app_of_owner on app (owner_user_id, created_at);

-- Whether it was the operator who disabled an app: then its owner cannot enable it.
alter table app add column is_held boolean not null default false;
