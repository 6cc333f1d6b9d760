// Written by `node tools/tables.ts` from server/migrations. Do not edit.
import type { ClientId, IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import type { ColumnType, Generated } from 'kysely'

/** Read as a value, written as its text. */
type Json = ColumnType<unknown, string, string>

export interface Tables {
  account_suspension: {
    user_id: UserId
    identity_id: IdentityId
    source: Generated<string>
    scope: 'account' | 'identity'
    reason: string
    suspended_at: Date
    suspended_until: Date | null
  }
  admin_token: {
    token_id: string
    name: string
    permissions: string[]
    networks: string[]
    token_sha256: Uint8Array
    previous_sha256: Uint8Array | null
    previous_until: Date | null
    created_at: Date
    issued_at: Date
    expires_at: Date
    last_used_at: Date | null
    last_used_address: string | null
    created_by: IdentityId | null
  }
  app: {
    client_id: ClientId
    name: string
    description: string | null
    icon_url: string | null
    color: string | null
    website_url: string | null
    privacy_url: string | null
    terms_url: string | null
    redirect_uris: string[]
    allowed_scopes: string[]
    is_public: boolean
    id_token_signed_response_alg: 'RS256' | 'ES256' | 'EdDSA'
    access_token_ttl_seconds: number
    refresh_token_ttl_seconds: number
    created_at: Date
    updated_at: Date
    status: Generated<'active' | 'disabled'>
    post_logout_redirect_uris: Generated<string[]>
    owner_user_id: UserId | null
    owner_identity_id: IdentityId | null
    disabled_by_operator: Generated<boolean>
    supports_e2ee: Generated<boolean>
    app_key_recipient_jwk: string | null
    metadata_fetched_at: Date | null
    require_auth_time: Generated<boolean>
    id_token_claims: Generated<boolean>
    required_claims: Generated<string[]>
    organization_access: Generated<'none' | 'read' | 'create'>
    backchannel_logout_uri: string | null
    backchannel_logout_session_required: Generated<boolean>
    allow_any_loopback_port: Generated<boolean>
    access_mode: Generated<'everyone' | 'restricted' | 'none'>
    access_organization_ids: Generated<string[]>
    access_contact: string | null
    groups_claim: Generated<'assigned' | 'all'>
  }
  app_access_group: {
    client_id: ClientId
    group_id: string
  }
  app_claim: {
    client_id: ClientId
    claim: string
    position: number
    mapping: Json
  }
  app_claim_group: {
    client_id: ClientId
    group_key: string
  }
  app_ending: {
    client_id: ClientId
    ended_at: Date
    last_identity_id: string | null
    last_client_id: string | null
  }
  app_event: {
    event_id: string
    client_id: ClientId | null
    type: string
    data: string
    happened_at: Date
  }
  app_held_resource: {
    resource_key: string
    audience: string
  }
  app_origin: {
    origin: string
    client_id: ClientId
  }
  app_resource: {
    resource_key: string
    resource_id: string
    client_id: ClientId
    display_name: string
    description: string | null
    scopes: string[]
    scope_descriptions: string[]
    audience: string
    status: 'active' | 'disabled'
    created_at: Date
    updated_at: Date
    disabled_by_operator: Generated<boolean>
  }
  app_role: {
    client_id: ClientId
    key: string
    display_name: string
    position: number
  }
  app_role_group: {
    client_id: ClientId
    role_key: string
    group_id: string
  }
  app_role_identity: {
    identity_id: IdentityId
    client_id: ClientId
    role_key: string
    assigned_at: Date
  }
  app_secret: {
    client_id: ClientId
    secret_sha256: Uint8Array
    created_at: Date
    expires_at: Date | null
  }
  app_usage: {
    client_id: ClientId
    kind: string
    day: number
    count: string
    last_at: Date
  }
  audit_chain: {
    sequence: string
    hash: Uint8Array
    details_digest: Uint8Array
    salt: Uint8Array | null
  }
  audit_chain_head: {
    version: number
    sequence: string
    hash: Uint8Array | null
    pruned_sequence: string
    pruned_hash: Uint8Array | null
  }
  audit_event: {
    event_id: string
    occurred_at: Date
    action: string
    actor: 'user' | 'app' | 'operator' | 'system'
    user_id: UserId | null
    identity_id: IdentityId | null
    client_id: ClientId | null
    details: ColumnType<unknown, string | undefined, string>
    organization_id: OrganizationId | null
    app_name: string | null
    device: string | null
    operator_kind: 'operator' | 'token' | 'scim' | 'break_glass' | null
    operator_id: string | null
    operator_name: string | null
    sequence: string | null
    origin_network: string | null
    origin_request_id: string | null
    origin_is_chained: boolean | null
  }
  authorization_app_key: {
    identity_id: IdentityId
    client_id: ClientId
    mode: 'symmetric' | 'asymmetric'
    ciphertext: string
    public_key: Uint8Array | null
    created_at: Date
  }
  authorization_app_public_key: {
    client_id: ClientId
    public_key: Uint8Array
    identity_id: IdentityId
  }
  authorization_consent: {
    identity_id: IdentityId
    client_id: ClientId
    authorization_id: string
    scope: string[]
    created_at: Date
    last_authorized_at: Date
    organization_access: Generated<'none' | 'read' | 'create' | null>
    organization_ids: Generated<string[]>
  }
  configuration_object: {
    object_kind: 'group' | 'app' | 'invitation' | 'organization' | 'sink'
    object_key: string
    managed_by: string
    group_id: string | null
    client_id: ClientId | null
    invitation_id: string | null
    organization_id: OrganizationId | null
    sink_id: string | null
    delete_at: Date | null
  }
  delegation_former_identity: {
    identity_id: IdentityId
  }
  delegation_grant: {
    identity_id: IdentityId
    delegation_id: string
    source_client_id: ClientId
    resource_id: string
    scope: string[]
    communication_mode: 'user_present' | 'background'
    created_at: Date
    updated_at: Date
    revoked_at: Date | null
    last_used_at: Date | null
    unaudited_use_count: Generated<number>
    use_audited_at: Date | null
  }
  delegation_usage: {
    identity_id: IdentityId
    delegation_id: string
    used_at: Date
    scope: string[]
    count: number
  }
  encryption_device_approval: {
    user_id: UserId
    approval_id: string
    requesting_session_id: SessionId
    commitment: Uint8Array
    approving_session_id: SessionId | null
    approver_public_key: Uint8Array | null
    requester_public_key: Uint8Array | null
    nonce: Uint8Array | null
    ciphertext: string | null
    created_at: Date
    expires_at: Date
  }
  encryption_former_ciphertext: {
    user_id: UserId
    former_id: string
    kind:
      | 'passkey_prf'
      | 'recovery_code'
      | 'device'
      | 'self_record'
      | 'encryption_key'
      | 'signing_key'
      | 'app_key'
      | 'organization_key'
    identity_id: IdentityId | null
    reference: string | null
    ciphertext: string
    replaced_at: Date
    delete_at: Date
  }
  encryption_identity_key: {
    identity_id: IdentityId
    public_key: Uint8Array
    encrypted_private_key: string
    created_at: Date
    recovered_at: Date | null
  }
  encryption_key_reset: {
    user_id: UserId
    credential_id: string
    recovered_at: Date
  }
  encryption_key_wrap: {
    user_id: UserId
    wrap_id: string
    kind: 'passkey_prf' | 'recovery_code' | 'device'
    credential_id: string | null
    ciphertext: string
    created_at: Date
  }
  encryption_recovery_code: {
    user_id: UserId
    recovery_auth_sha256: Uint8Array
    created_at: Date
  }
  encryption_self_record: {
    user_id: UserId
    sequence: number
    ciphertext: string
    updated_at: Date
  }
  fedcm_continuation: {
    reference_sha256: Uint8Array
    user_id: UserId
    session_id: SessionId
    client_id: ClientId
    origin: string
    request: string
    expires_at: Date
  }
  group_ending: {
    group_id: string
    source: string
    last_id: string | null
  }
  group_member: {
    identity_id: IdentityId
    group_id: string
    source: string
    added_at: Date
    expires_at: Date | null
    rule_ids: Generated<string[]>
  }
  group_member_by_group: {
    group_id: string
    identity_id: IdentityId
  }
  identity: {
    identity_id: IdentityId
    user_id: UserId
    handle: string
    display_name: string
    avatar_url: string | null
    email: string | null
    email_verified: Generated<boolean>
    email_verified_at: Date | null
    recovery_email_since: Date | null
    created_at: Date
    updated_at: Date
    suspended_at: Date | null
    suspended_until: Date | null
    last_seen_on: string | null
    version: Generated<number>
    managed_by: string | null
    manages_account: Generated<boolean>
    account_change_count: Generated<number>
  }
  identity_deletion: {
    user_id: UserId
    identity_id: IdentityId
    reason: string
    scheduled_at: Date
    due_at: Date
    attempt_at: Date
    refusal: string | null
  }
  identity_email_verification: {
    identity_id: IdentityId
    email: string
    code_mac: Uint8Array
    attempts: Generated<number>
    expires_at: Date
  }
  identity_handle: {
    handle_normalized: string
    identity_id: IdentityId | null
    available_at: Date | null
    claimed_at: Date | null
  }
  identity_term: {
    term: string
    identity_id: IdentityId
  }
  invitation: {
    invitation_id: string
    token_sha256: Uint8Array
    kind: 'link' | 'mail'
    email: string | null
    handle: string | null
    display_name: string | null
    group_ids: string[]
    language: string
    message: string | null
    max_uses: number
    use_count: Generated<number>
    created_at: Date
    issued_at: Date
    expires_at: Date
    mailed_at: Date | null
    mail_at: Date | null
    mail_attempts: Generated<number>
    created_by: IdentityId | null
    admin_token_id: string | null
    identity_id: IdentityId | null
  }
  invited_identity: {
    identity_id: IdentityId
    handle: string
    display_name: string
    email: string | null
    group_ids: string[]
    created_at: Date
    managed_by: string | null
    active: Generated<boolean>
  }
  oauth_pushed_request: {
    request_uri_sha256: Uint8Array
    client_id: ClientId
    parameters: string
    first_used_at: Date | null
    expires_at: Date
    connector: string | null
    source_sha256: Uint8Array | null
    created_at: Date | null
  }
  operator: {
    identity_id: IdentityId
    role: 'owner' | 'people' | 'apps' | 'auditor'
    granted_at: Date
    granted_by: IdentityId | null
    break_glass_mailed_at: Date | null
  }
  organization: {
    organization_id: OrganizationId
    name: string
    slug: string
    logo_url: string | null
    status: Generated<'active' | 'suspended'>
    encryption_mode: Generated<'standard' | 'enterprise_managed' | 'e2ee'>
    sso_connection_id: string | null
    next_sso_connection_id: Generated<string>
    sso_required: Generated<boolean>
    require_signed_actions: Generated<boolean>
    owner_count: number
    created_at: Date
    updated_at: Date
    approvals_needed: Generated<number>
  }
  organization_act: {
    organization_id: OrganizationId
    act_id: string
    session_id: SessionId
    identity_id: IdentityId
    endpoint: string
    sealed_request: string
    action: string
    details: string
    salt: Uint8Array
    statement: string
    created_at: Date
    expires_at: Date
    proposal_id: string | null
    approvals_needed: Generated<number>
  }
  organization_act_signature: {
    organization_id: OrganizationId
    sequence: number
    position: number
    statement: string
    presence: Uint8Array
    signature: Uint8Array
  }
  organization_council_reset: {
    organization_id: OrganizationId
    requested_at: Date | null
    reset_at: Date | null
  }
  organization_domain: {
    organization_id: OrganizationId
    domain_id: string
    domain: string
    txt_value: string
    created_at: Date
    verified_at: Date | null
    last_checked_at: Date | null
    last_verified_at: Date | null
    failing_since: Date | null
    notified_at: Date | null
  }
  organization_domain_loss: {
    organization_id: OrganizationId
    domain_id: string
    cause: 'taken' | 'expired'
    mail_at: Date
    mail_attempts: Generated<number>
    settled_ids: Generated<string[]>
  }
  organization_ending: {
    organization_id: OrganizationId
    ended_at: Date
  }
  organization_invitation: {
    organization_id: OrganizationId
    invitation_id: string
    token_sha256: Uint8Array
    mail_token_sha256: Uint8Array | null
    mailed_at: Date | null
    identity_id: IdentityId | null
    email: string | null
    role: 'owner' | 'admin' | 'signer' | 'member' | 'viewer'
    invited_by: IdentityId
    created_at: Date
    expires_at: Date
    accepted_at: Date | null
  }
  organization_key: {
    organization_id: OrganizationId
    key_id: string
    version: number
    custody: 'svc_standard' | 'customer_kms' | 'identity_grants'
    sealed_key: string | null
    fingerprint: string
    created_at: Date
    rotation_due_at: Date | null
    retired_at: Date | null
  }
  organization_key_wrap: {
    organization_id: OrganizationId
    key_id: string
    member_id: string
    ciphertext: string
    granted_at: Date
  }
  organization_kms: {
    organization_id: OrganizationId
    url: string
    checked_at: Date
  }
  organization_member: {
    organization_id: OrganizationId
    member_id: string
    identity_id: IdentityId
    role: 'owner' | 'admin' | 'signer' | 'member' | 'viewer'
    scopes: string[]
    signing_authority: boolean
    joined_at: Date
    named_by_directory: Generated<boolean>
    invited_email: string | null
  }
  organization_proposal: {
    organization_id: OrganizationId
    proposal_id: string
    identity_id: IdentityId
    endpoint: string
    sealed_request: string
    action: string
    details: string
    salt: Uint8Array
    statement: string
    created_at: Date
    expires_at: Date
  }
  organization_proposal_approval: {
    organization_id: OrganizationId
    proposal_id: string
    identity_id: IdentityId
    key_version: number
    statement: string
    presence: Uint8Array
    signature: Uint8Array
    approved_at: Date
  }
  organization_signatory: {
    organization_id: OrganizationId
    identity_id: IdentityId
    user_id: UserId
    may_sign: boolean
    may_approve: boolean
    admitted_at: Date
    suspended_at: Date | null
  }
  organization_slug: {
    slug: string
    organization_id: OrganizationId
    available_at: Date | null
    former_owner_id: UserId | null
    in_group_key: Generated<boolean>
  }
  organization_sso_confirmation: {
    organization_id: OrganizationId
    connection_id: string
    identity_id: IdentityId | null
    confirmed_at: Date
  }
  organization_trail: {
    organization_id: OrganizationId
    sequence: number
    event_id: string
    entry: string
    salt: Uint8Array | null
    details: string | null
    proposal: string | null
  }
  organization_trail_head: {
    organization_id: OrganizationId
    sequence: number
    head: string | null
    last_act: string | null
  }
  organization_trail_pending: {
    organization_id: OrganizationId
    event_id: string
  }
  organization_verified_domain: {
    domain: string
    organization_id: OrganizationId
    domain_id: string
    next_check_at: Date
  }
  passkey_credential: {
    credential_id: string
    user_id: UserId
    public_key: Uint8Array
    sign_count: string
    backup_eligible: boolean
    backed_up: boolean
    transports: string[]
    name: string
    created_at: Date
    last_used_at: Date
    user_handle: Uint8Array | null
  }
  passkey_flow: {
    flow_id: string
    ceremony: 'register' | 'authenticate' | 'reauthenticate' | 'add_passkey' | 'recover' | 'redeem'
    challenge: string
    user_id: UserId | null
    identity_id: IdentityId | null
    handle: string | null
    display_name: string | null
    recovery_auth_sha256: Uint8Array | null
    expires_at: Date
    request_sha256: Uint8Array | null
    browser_sha256: Uint8Array | null
    recovery_link_id: string | null
    user_handle: Uint8Array | null
    is_invited: Generated<boolean>
  }
  picture: {
    owner_id: string
    picture_id: string
    owner_kind: 'identity' | 'app' | 'organization' | 'service'
    small: Uint8Array
    medium: Uint8Array
    large: Uint8Array
    created_at: Date
    expires_at: Date | null
  }
  rate_limit_window: {
    key_sha256: Uint8Array
    count: number
    expires_at: Date
  }
  recovery_link: {
    user_id: UserId
    recovery_link_id: string
    identity_id: IdentityId
    state: 'issued' | 'expired' | 'redeemed' | 'completed' | 'settled' | 'cancelled' | 'undone'
    token_sha256: Uint8Array
    stop_sha256: Uint8Array
    reason: string
    issued_at: Date
    expires_at: Date
    redeemed_at: Date | null
    completes_at: Date | null
    completed_at: Date | null
    hold_until: Date | null
    ended_at: Date | null
    locked_until: Date | null
    attempt_at: Date | null
    credential_id: string | null
    user_handle: Uint8Array | null
    public_key: Uint8Array | null
    sign_count: string | null
    backup_eligible: boolean | null
    backed_up: boolean | null
    transports: string[] | null
    name: string | null
    last_used_at: Date | null
  }
  registration_email: {
    verification_id: string
    email: string
    code_mac: Uint8Array
    attempts: Generated<number>
    proof_sha256: Uint8Array | null
    expires_at: Date
  }
  scim_group: {
    group_id: string
    token_id: string
    external_id: string | null
    created_at: Date
    updated_at: Date
  }
  scim_token: {
    token_id: string
    name: string
    token_sha256: Uint8Array
    created_at: Date
    issued_at: Date
    expires_at: Date
    last_used_at: Date | null
    created_by: IdentityId | null
    deleted_at: Date | null
  }
  scim_user: {
    identity_id: IdentityId
    token_id: string
    user_name: string
    user_name_key: string
    external_id: string | null
    display_name: string | null
    formatted_name: string | null
    given_name: string | null
    family_name: string | null
    emails: Json
    email_keys: string[]
    active: boolean
    created_at: Date
    updated_at: Date
  }
  session: {
    session_id: SessionId
    token_sha256: Uint8Array
    user_id: UserId
    user_agent: string | null
    created_at: Date
    auth_time: Date
    last_seen_at: Date
    expires_at: Date
    auth_method: 'passkey' | 'enterprise_sso' | 'recovered_passkey'
    identity_id: IdentityId | null
    organization_id: OrganizationId | null
    connection_id: string | null
    credential_id: string | null
    proved_by: string | null
    fedcm_token_sha256: Uint8Array | null
    proved_request_sha256: Uint8Array | null
    hold_until: Date | null
    replaced_session_ids: Generated<string[]>
  }
  session_app: {
    session_id: SessionId
    known_session_id: SessionId
    identity_id: IdentityId
    client_id: ClientId
    organization_id: OrganizationId | null
    expires_at: Date
  }
  session_logout: {
    client_id: ClientId
    logout_id: string
    identity_id: IdentityId
    session_id: SessionId
    attempts: Generated<number>
    created_at: Date
    next_attempt_at: Date
  }
  session_logout_receiver: {
    client_id: ClientId
    slow_until: Date
  }
  session_sso_authentication: {
    session_id: SessionId
    organization_id: OrganizationId
    connection_id: string
    identity_id: IdentityId
    authenticated_at: Date
  }
  session_sso_bypass: {
    session_id: SessionId
    organization_id: OrganizationId
    recorded_at: Date
  }
  setting_revision: {
    revision: number
    created_at: Date
    stored: Json
    changed_keys: string[]
    restored_from: number | null
    operator_kind: 'operator' | 'token' | 'break_glass'
    operator_id: string | null
    operator_name: string | null
  }
  setup_link: {
    token_sha256: Uint8Array
    created_at: Date
    expires_at: Date
  }
  signing_approval_flow: {
    identity_id: IdentityId
    flow_id: string
    request_id: string
    session_id: SessionId
    role: 'self' | 'sign' | 'approve'
    challenge: Uint8Array
    presence_challenge: Uint8Array
    challenged_at: Date
    expires_at: Date
  }
  signing_expired_former_request: {
    request_id: string
    identity_id: IdentityId
    client_id: ClientId
    public_key: Uint8Array
    expires_at: Date
  }
  signing_former_request: {
    request_id: string
    identity_id: IdentityId
    client_id: ClientId
    public_key: Uint8Array
    expires_at: Date
  }
  signing_key: {
    identity_id: IdentityId
    key_version: number
    public_key: Uint8Array
    encrypted_private_key: string | null
    created_at: Date
    replaced_at: Date | null
    rotation_signature: Uint8Array | null
    recovered_at: Date | null
  }
  signing_key_owner: {
    public_key: Uint8Array
    identity_id: IdentityId
  }
  signing_organization_request: {
    organization_id: OrganizationId
    request_id: string
    client_id: ClientId
    organization_name: string
    app_name: string | null
    payload: string
    metadata: string | null
    approvals_needed: number
    status: 'pending' | 'signed' | 'denied' | 'expired'
    created_at: Date
    expires_at: Date
    resolved_at: Date | null
    council_reset_at: Date | null
  }
  signing_organization_request_route: {
    request_id: string
    organization_id: OrganizationId
    client_id: ClientId
  }
  signing_organization_signature: {
    organization_id: OrganizationId
    request_id: string
    identity_id: IdentityId
    member_id: string
    role: 'sign' | 'approve'
    key_version: number
    public_key: Uint8Array
    signature: Uint8Array
    signed_handle: string | null
    signed_at: Date
    admitted_at: Date | null
    approval_statement: string | null
    approval_signature: Uint8Array | null
    approval_presence: Uint8Array | null
    approval_evidence: string | null
  }
  signing_request: {
    identity_id: IdentityId
    request_id: string
    client_id: ClientId
    app_name: string | null
    payload: string
    metadata: string | null
    key_version: number
    public_key: Uint8Array
    status: 'pending' | 'signed' | 'denied' | 'expired'
    signature: Uint8Array | null
    created_at: Date
    expires_at: Date
    resolved_at: Date | null
    signed_handle: string | null
    approval_statement: string | null
    approval_signature: Uint8Array | null
    approval_presence: Uint8Array | null
    approval_evidence: string | null
  }
  signing_request_record: {
    signer_id: IdentityId | OrganizationId
    client_id: ClientId
    is_connected: boolean
    recorded_at: Date
  }
  signing_request_route: {
    request_id: string
    identity_id: IdentityId
    client_id: ClientId
  }
  signing_signature_use: {
    identity_id: IdentityId
    signature_sha256: Uint8Array
    client_id: ClientId
    organization_id: OrganizationId | null
    role: 'self' | 'sign' | 'approve'
  }
  sink: {
    sink_id: string
    key: string
    kind: 'http' | 'syslog'
    url: string
    header_names: Generated<string[]>
    sealed_headers: string | null
    sealed_secret: string | null
    previous_sealed_secret: string | null
    previous_secret_until: Date | null
    ca_pem: string | null
    actions: string[]
    status: 'enabled' | 'paused'
    cursor_sequence: string
    version: Generated<number>
    failures: Generated<number>
    next_attempt_at: Date
    lease_id: string | null
    leased_until: Date | null
    last_error:
      | 'address_not_allowed'
      | 'unreachable'
      | 'certificate_invalid'
      | 'timed_out'
      | 'rejected'
      | 'not_signed'
      | null
    last_delivered_at: Date | null
    created_at: Date
    updated_at: Date
  }
  sso_connection: {
    connection_id: string
    organization_id: OrganizationId
    name: string
    settings: Json
    sealed_secret: string | null
    enabled: boolean
    domains: string[]
    tested_at: Date | null
    created_at: Date
    updated_at: Date
  }
  sso_connection_ending: {
    connection_id: string
    organization_id: OrganizationId
  }
  sso_encryption_key: {
    connection_id: string
    key_id: string
    certificate: string
    sealed_key: string
    created_at: Date
    expires_at: Date | null
  }
  sso_group_rule: {
    rule_id: string
    connection_id: string
    claim: string
    value: string
    group_id: string
    position: number
  }
  sso_link: {
    connection_id: string
    subject: string
    organization_id: OrganizationId
    member_id: string
    identity_id: IdentityId
    linked_at: Date
    normalized_email: string | null
  }
  sso_login: {
    flow_id: string
    connection_id: string
    purpose: 'login' | 'test'
    step: 'created' | 'started' | 'callback_received' | 'authenticated' | 'completed'
    state_sha256: Uint8Array
    browser_token_sha256: Uint8Array | null
    sealed_state: string | null
    return_to: string | null
    subject: string | null
    email: string | null
    email_verified: boolean | null
    display_name: string | null
    rule_ids: Generated<string[]>
    expires_at: Date
    started_elsewhere: Generated<boolean>
  }
  sso_scim_directory: {
    connection_id: string
    organization_id: OrganizationId
    subject_by: 'externalId' | 'email'
    token_sha256: Uint8Array
    token_created_at: Date
    user_count: Generated<number>
  }
  sso_scim_user: {
    connection_id: string
    scim_user_id: string
    user_name: string
    external_id: string | null
    display_name: string | null
    given_name: string | null
    family_name: string | null
    email: string | null
    active: boolean
    role: 'admin' | 'signer' | 'member' | 'viewer' | null
    user_name_key: string
    subject_key: string
    subject: string | null
    created_at: Date
    updated_at: Date
    email_is_primary: Generated<boolean>
    subject_is_assumed: Generated<boolean>
  }
  sso_used_assertion: {
    connection_id: string
    assertion_sha256: Uint8Array
    expires_at: Date
  }
  token_access_token: {
    identity_id: IdentityId
    token_sha256: Uint8Array
    family_id: string
    scope: string[]
    expires_at: Date
    issued_at: Date | null
  }
  token_family: {
    identity_id: IdentityId
    family_id: string
    client_id: ClientId
    session_id: SessionId
    scope: string[]
    auth_time: Date
    created_at: Date
    code_sha256: Uint8Array
    code_expires_at: Date
    code_redeemed_at: Date | null
    redirect_uri: string
    code_challenge: string | null
    nonce: string | null
    refresh_root_sha256: Uint8Array | null
    generation: Generated<number>
    current_refresh_sha256: Generated<Uint8Array[]>
    previous_refresh_sha256: Generated<Uint8Array[]>
    rotated_at: Date | null
    revoked_at: Date | null
    expires_at: Date
    organization_id: OrganizationId | null
    sso_connection_id: string | null
    authenticated_by_passkey: boolean | null
    requested_scope: string[] | null
    auth_time_requested: Generated<boolean>
    login_prompted: Generated<boolean>
    access_revocation_recorded_at: Date | null
  }
  token_signing_key: {
    algorithm: 'RS256' | 'ES256' | 'EdDSA'
    version: number
    kid: string
    public_jwk: string
    sealed_private_key: string | null
    created_at: Date
    activates_at: Date
  }
  transparency_leaf: {
    identity_sha256: Uint8Array
    sequence: number
    leaf_data: string
    leaf_sha256: Uint8Array
    integrate_at: Date
    leaf_index: number | null
  }
  transparency_log: {
    log: number
    origin: string
    public_key: Uint8Array
    sealed_private_key: string
    created_at: Date
    size: number
    root_hash: Uint8Array
    checkpoint: string
  }
  transparency_node: {
    level: number
    node_index: number
    hash: Uint8Array
  }
  user_account: {
    user_id: UserId
    identity_count: number
    created_at: Date
    suspended_at: Date | null
    suspended_until: Date | null
  }
  user_group: {
    group_id: string
    key: string
    display_name: string
    description: string | null
    protected: Generated<boolean>
    organization_id: OrganizationId | null
    managed_by: string | null
    member_count: Generated<number>
    created_at: Date
    updated_at: Date
    deleted_at: Date | null
    event_sequence: Generated<number>
  }
  webhook_attempt: {
    receiver_id: string
    delivery_id: string
    attempt: number
    attempted_at: Date
    response_status: number | null
    reason: string | null
  }
  webhook_delivery: {
    receiver_id: string
    delivery_id: string
    type: string
    payload: string | null
    state: Generated<'pending' | 'delivered' | 'failed'>
    attempts: Generated<number>
    created_at: Date
    next_attempt_at: Date | null
  }
  webhook_delivery_part: {
    receiver_id: string
    delivery_id: string
    identity_id: IdentityId
    path: string[]
    value: string
  }
  webhook_endpoint: {
    receiver_id: string
    client_id: ClientId | null
    url: string
    event_types: Generated<string[]>
    disabled_at: Date | null
    created_at: Date
    updated_at: Date
    slow_until: Date | null
  }
  webhook_secret: {
    receiver_id: string
    secret_id: string
    sealed_secret: string
    created_at: Date
    expires_at: Date | null
  }
}
