-- Whether it was the operator who disabled a resource: then its owner cannot enable it, as with an app.
alter table app_resource add column is_held boolean not null default false;
