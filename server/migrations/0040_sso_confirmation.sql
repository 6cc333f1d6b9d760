-- Whether a link or page that is not ours began the sign-in. Then the user confirms it before a session is opened.
alter table sso_flow add column started_elsewhere boolean not null default false;
