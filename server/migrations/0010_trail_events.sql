-- Finds the entry of an event in the trail of an organization: its salt is deleted with the event.
create index concurrently if not exists organization_trail_of_event on organization_trail (organization_id, event_id)
  where salt is not null and details is null;
comment on column organization_trail.details is
  'Details that members have signed, or that verifiers of councils need after the event was deleted, as canonical JSON';
