-- When a backup was completed.
create index concurrently if not exists audit_event_of_completed_backup on audit_event (occurred_at)
  where action = 'backup.completed';
