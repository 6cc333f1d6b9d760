-- The last sessions of the same user that this one has replaced in its browser, the latest first: an ID token of theirs
-- signs the user out as one of this session does.
alter table session add column replaced_session_ids uuid[] not null default '{}';
