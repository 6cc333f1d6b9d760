-- Domains that organizations have lost, until their owners are notified. Processes of the former version add no row:
-- they mail the owners once.
create table organization_domain_loss (
  organization_id uuid not null,
  domain_id uuid not null,
  cause text not null check (cause in ('taken', 'expired')),
  -- When the mails are attempted next, and how often they were attempted. While a process mails, the time when another
  -- one attempts it.
  mail_at timestamptz not null,
  mail_attempts integer not null default 0,
  -- Owners who get no other mail: they got it, or the mail server rejected their address.
  settled_ids uuid[] not null default '{}',
  primary key (organization_id, domain_id),
  foreign key (organization_id, domain_id) references organization_domain on delete cascade
);
create index organization_domain_loss_to_mail on organization_domain_loss (mail_at);
