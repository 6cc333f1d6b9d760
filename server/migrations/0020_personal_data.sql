-- Changes that `version` counts, but that were no act on this identity: a suspension of the account through another one
-- begins or ends. `version` stays the sequence of the events of the identity. What operators read, and send in
-- `If-Match`, is `version - account_change_count`: otherwise two identities whose versions rise together would show
-- that they belong to one user. A process of the former version raises and returns `version` alone. The sequence stays
-- monotonic. What it returned can be refused by a process of this version, or be that of a later state.
alter table identity add column account_change_count integer not null default 0;
-- A used invitation for one use keeps its text until the identity that accepted it is deleted. Those that were accepted
-- before this version, or through a process of the former one, name no identity.
comment on column invitation.identity_id is
  'The invited identity that it is for, whose names are fixed; once it is used, the identity that accepted it';
