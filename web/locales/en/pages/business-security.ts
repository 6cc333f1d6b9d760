import { plural } from '../../plural.ts'

/** Holds the messages for SSO, SCIM, domains, keys and signed admin actions of organizations. */
export const organizationSecurityMessages = {
  concerns: {
    organization: 'Organization',
    member: 'Member',
    invitation: 'Invitee',
    domain: 'Domain',
    connection: 'Connection',
    key: 'Key',
    replaces: 'Replaces key',
    yes: 'Yes',
    no: 'No',
    none: 'none',
    secret: 'hidden',
  },

  sso: {
    what: 'Let members sign in with their work account. Each links it to a passkey once.',
    add: 'Add SSO connection',
    create: 'Add connection',
    titles: {
      oidc: 'OpenID Connect provider',
      saml: 'SAML 2.0 provider',
    },
    instead: {
      oidc: 'Use OpenID Connect instead',
      saml: 'Use SAML instead',
    },
    fields: {
      issuer: 'Issuer',
      clientId: 'Client ID',
      clientSecret: 'Client secret',
      metadataUrl: 'Metadata URL',
    },
    hints: {
      issuer: 'Exactly as your provider shows it.',
      clientId: 'From the web application you registered with the provider.',
      clientSecret: 'Stored encrypted and not shown again.',
      metadataUrl: 'Must start with https://.',
    },
    missing: 'This field is required.',
    noProvider: 'No provider found at this address. It must be reachable from the internet.',
    callback: 'Redirect URI (enter at your provider)',
    ourMetadata: 'Service provider metadata (enter at your provider)',
    acs: 'Assertion consumer service (ACS) URL',
    scimAddress: 'SCIM base URL',
    untested: 'Not tested yet.',
    tested: (day: string) => `Tested ${day}.`,
    unconfirmed: 'Not confirmed by an owner yet. Until then, it doesn’t count where SSO is required.',
    confirm: 'Confirm connection',
    confirmQuestion: (name: string) => `Confirm ${name}?`,
    confirmWhat: (issuer: string) =>
      `Members who sign in through ${issuer} then get access where SSO is required. Check that this is your ` +
      'identity provider.',
    disabled: 'Turned off. Nobody can sign in with it.',
    joins: (domains: string) => `Anyone with a verified address at ${domains} joins automatically.`,
    noDomains: 'Only existing members can use it.',
    directed: 'Your directory (SCIM) controls who can join.',
    change: 'Edit',
    changeTitle: 'Edit connection',
    renewed: {
      clientSecret: 'Leave empty to keep the current secret.',
      metadataUrl: 'Enter it again to reload the provider’s keys.',
    },
    notReadAgain: {
      invalid_metadata: 'This isn’t metadata of the same provider. Add another provider as a new connection.',
      insufficient_scope: 'The provider’s keys or sign-in URL changed. Only an owner can save this change.',
    },
    addDirectory: 'Set up SCIM',
    directory: 'SCIM',
    encryption: 'Assertion encryption',
    test: 'Test',
    enable: 'Turn on',
    disable: 'Turn off',
    remove: 'Delete',
    removeTitle: (name: string) => `Delete ${name}?`,
    removeWhat: 'Members who signed in only with this connection are signed out, and all account links are removed.',
    removeNow: 'Delete connection',
    everybody: 'SSO requirement',
    required: 'Members must sign in with SSO. Owners can still use a passkey on this site.',
    notRequired: 'Members can also sign in with just a passkey.',
    require: 'Require SSO',
    letWithout: 'Stop requiring SSO',
  },

  keys: {
    what: 'An encryption key shared by all members. Apps use it to encrypt data for the organization.',
    none: 'No key yet.',
    inForce: (version: number, day: string) => `Key ${version}, created ${day}.`,
    kept: {
      svc_standard: 'Stored by Countersign.',
      customer_kms: 'Stored by your KMS.',
      identity_grants: 'Only members it was shared with can unlock it.',
    },
    without: (members: number) =>
      plural('en', members, { one: '1 member doesn’t have it.', other: `${members} members don’t have it.` }),
    due: (day: string) =>
      `Replacement recommended since ${day}: a member who may have the key left, or key storage changed.`,
    first: 'Create key',
    replace: 'Replace key',
    share: 'Share with members',
    keeper: 'Key storage',
    change: 'Change',
    modes: {
      standard: 'Countersign',
      enterprise_managed: 'Your own KMS',
      e2ee: 'Members only (end-to-end)',
    },
    modesWhat: {
      standard: 'Members get the key automatically.',
      enterprise_managed: 'Your key management service unlocks the key each time a member needs it.',
      e2ee: 'The key is created in a browser and shared from member to member. We can’t read it.',
    },
    save: 'Save',
    former: 'Previous keys',
    remove: 'Delete',
    removeTitle: (version: number) => `Delete key ${version}?`,
    removeWhat: 'Data encrypted only with this key can no longer be read, except by members who kept a copy.',
    removeNow: 'Delete key',
    kms: 'KMS URL',
    kmsStays: (url: string) => `The KMS at ${url} is still configured, but stores none of your keys.`,
    kmsOpens: (url: string) => `The KMS at ${url} still protects previous keys. Delete those before you remove it.`,
    removeKms: 'Remove KMS',
    kmsVerdicts: {
      invalid_kms: 'The service at this URL can’t unwrap what it wrapped.',
      kms_cannot_unwrap: 'This KMS can’t unlock your existing keys.',
    },
  },

  directory: {
    title: 'SCIM provisioning',
    what:
      'Your directory controls who can join with this connection; nobody else can. People it deactivates or deletes ' +
      'lose access immediately.',
    made: (day: string) =>
      `SCIM token created ${day}. A new token replaces it. Removing the token forgets all provisioned users; ` +
      'members stay.',
    by: 'Match users by',
    ways: {
      externalId: {
        label: 'externalId',
        about: 'The value your provider sends as sub (OIDC) or NameID (SAML).',
      },
      email: {
        label: 'E-mail address',
        about: 'An address your provider marks as verified.',
      },
    },
    make: 'Create token',
    replace: 'Replace token',
    remove: 'Remove SCIM',
    issued: 'Enter both values in your directory. The token won’t be shown again.',
    address: 'SCIM base URL',
    token: 'Token',
  },

  encryption: {
    title: 'Assertion encryption',
    what:
      'Publish a key so that your provider can encrypt SAML assertions. Some providers start as soon as they see ' +
      'it, not always with a supported algorithm. Test the connection afterwards.',
    published: (day: string) =>
      `Key published; certificate valid until ${day}. After you replace or remove it, the old key works for 30 more ` +
      'days.',
    make: 'Publish key',
    replace: 'Replace key',
    remove: 'Remove key',
    save: 'Download certificate',
  },

  domains: {
    what: 'Verify a domain to let people with its e-mail addresses join through SSO without an invitation.',
    domain: 'Domain',
    hint: 'For example, example.com',
    claim: 'Add domain',
    pending: 'Not verified yet. Add this DNS record to your domain, then check it.',
    verified: (day: string) => `Verified ${day}. Keep the DNS record in place.`,
    failing: (day: string) =>
      `The DNS record is missing. Restore it, or the domain loses its verification. Deadline: ${day}.`,
    record: 'DNS record',
    recordName: 'TXT record',
    recordValue: 'Value',
    check: 'Check DNS record',
    remove: 'Remove',
    removeTitle: (domain: string) => `Remove ${domain}?`,
    removeWhat:
      'People with addresses at this domain can no longer join automatically, and another organization can verify it.',
    removePending: 'The DNS record becomes invalid. If you add the domain again, it gets a new one.',
    removeNow: 'Remove domain',
    verdicts: {
      invalid: 'Enter a domain, such as example.com.',
      public: 'This is a public domain, so it can’t belong to one organization.',
      claimed: 'This domain is already in your list.',
      'too many': 'You’ve reached the maximum of 50 domains. Remove one first.',
      taken: 'Another organization verified this domain, and its DNS record still exists. Remove that record first.',
      unanswered: 'The domain’s name servers aren’t responding. Try again in a moment.',
      nothing: 'DNS record not found. New records can take up to an hour to appear.',
      'other text': 'The TXT record exists but has a different value.',
      alias: 'There is a CNAME record at this name. Replace it with the TXT record.',
    },
  },

  /** Has the error code as key, for errors that only these pages can get or must explain in more detail. */
  refused: {
    invalid_request: 'Some of the values aren’t valid. Check your input.',
    identity_not_found: 'No user with this username.',
    signed_action_required: 'Not saved: you didn’t sign this change.',
    no_signing_key:
      'Not saved: this organization requires signatures, and this identity has no signing key yet. Create one in ' +
      'your account under Signing.',
    passkey_required: 'Not saved: you signed in with SSO. Sign in with your passkey to make this change.',
    invalid_action_signature: 'The signature is invalid. Sign again.',
    connection_not_found: 'This connection no longer exists.',
    invalid_issuer: 'No OpenID provider found at this issuer. It must be reachable from the internet.',
    invalid_metadata: 'No SAML metadata found at this URL.',
    domain_not_verified: 'One of these domains is no longer verified for this organization.',
    too_many_connections: 'You’ve reached the maximum of ten connections. Delete one first.',
    sso_connection_required: 'SSO with this connection is required. Stop requiring SSO first.',
    sso_connection_untested: 'Before you require SSO, test a connection and have an owner confirm it.',
    scim_users_exist: 'Users have already been provisioned with another match rule. Remove SCIM first.',
    encryption_key_not_found: 'This connection no longer has an encryption key.',
    too_many_encryption_keys: 'Too many previous keys are still valid. Wait until one expires.',
    scim_token_not_found: 'SCIM is no longer set up for this connection.',
    domain_not_found: 'This domain is no longer in the list.',
    encryption_key_missing: 'This member has no encryption key yet.',
    invalid_key_wrap: 'The key couldn’t be shared. Try again.',
    key_not_found: 'This key no longer exists.',
    key_active: 'This is the active key. Replace it first.',
    key_not_shared_with_you: 'Only members who have this key can share it.',
    key_used_before: 'This key was used before. Create a new one.',
    key_changed: 'Someone just replaced the key. Reload the page.',
    too_many_keys: 'You’ve reached the maximum number of keys.',
    key_managed_by_service: 'Members get this key automatically.',
    invalid_kms: 'The service at this URL can’t unwrap what it wrapped.',
    kms_required: 'Enter your KMS URL first.',
    kms_not_found: 'No KMS is configured.',
    kms_in_use: 'This KMS still protects keys.',
    kms_cannot_unwrap: 'This KMS can’t unlock your existing keys.',
    kms_changed: 'Someone just changed the KMS settings. Reload the page.',
    kms_unavailable: 'Your KMS isn’t responding. Try again in a moment.',
  },
}
