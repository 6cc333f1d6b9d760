-- Resources that the operator had disabled, by themselves or with their app, when the owner deleted the app. Nobody but
-- the operator gives this key or audience to another app: otherwise the owner would bring the resource back.
create table app_held_resource (
  resource_key text primary key,
  -- Without a slash at its end.
  audience text not null
);
create index app_held_resource_audience on app_held_resource (audience);
