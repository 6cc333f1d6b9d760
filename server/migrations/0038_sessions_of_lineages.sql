-- Whether a passkey had opened the session in which a person agreed, and not the provider of an organization alone.
-- Null for what was agreed to before this was recorded.
alter table token_lineage add column by_passkey boolean;
