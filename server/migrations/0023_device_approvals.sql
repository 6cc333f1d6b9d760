-- A device that is signed in asks another one of the same person to unlock it. What stands here are public keys, and a
-- ciphertext that opens on the device that asked alone. It lives as long as the session that asked, and five minutes at
-- most.
create table encryption_device_approval (
  user_id uuid not null,
  approval_id uuid not null,
  asking_session_id uuid not null,
  commitment bytea not null check (length(commitment) = 32),
  answering_session_id uuid check (answering_session_id <> asking_session_id),
  answer_public_key bytea check (length(answer_public_key) = 32),
  public_key bytea check (length(public_key) = 32),
  nonce bytea check (length(nonce) = 32),
  ciphertext text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (user_id, approval_id),
  check ((answering_session_id is null) = (answer_public_key is null)),
  check ((public_key is null) = (nonce is null)),
  check (public_key is null or answer_public_key is not null),
  check (ciphertext is null or public_key is not null)
);
create index encryption_device_approval_expiry on encryption_device_approval (expires_at);
