-- What others have done to an identity, its user unknown to them: few entries, found without those between.
create index audit_entry_of_identity_alone on audit_entry (identity_id, entry_id) where user_id is null;

-- What an identity has signed for organizations, a page at a time.
create index signing_organization_answer_in_order on signing_organization_answer (identity_id, answered_at, request_id);
drop index signing_organization_answer_of_identity;
