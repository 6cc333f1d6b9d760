/** Lifetimes and sizes that pages and formats need. They are apart from the others to keep pages small. */
export const pageLimits = {
  /** The JSON texts of `groups`, `roles` and mapped claims in a JWT, and in an answer. */
  assignedClaimsBytesMax: 4096,
  answerClaimsBytesMax: 64 * 1024,
  displayNameCharactersMax: 80,
  suspensionReasonCharactersMax: 500,
  /** Days between the order of an operator to delete an identity and its deletion. */
  deletionRetainDays: 7,
  deletionRetainDaysMax: 30,
  recoveryReasonCharactersMax: 500,
  identitiesPerUserMax: 20,
  passkeysPerUserMax: 20,
  appsPerUserMax: 50,
  resourcesPerAppMax: 20,
  scopesPerResourceMax: 50,
  emailCharactersMax: 254,
  /** Of a domain that can be verified: with the prefix of its challenge, it is still a valid name (RFC 1035 §2.3.4). */
  domainCharactersMax: 230,

  flowLifetimeSeconds: 5 * 60,
  freshAuthenticationSeconds: 5 * 60,
  /** Time in which a signed act is done, and time in which a proposal is approved by others and done. */
  actLifetimeSeconds: 5 * 60,
  actProposalLifetimeSeconds: 7 * 24 * 3600,
  /** Retention of a revoked delegation and of each use. */
  delegationRememberedSeconds: 90 * 24 * 3600,
  signingLifetimeSecondsMax: 3600,
  signingWaitSecondsMax: 30,
  /** Maximum difference between the clocks of the service and of the device on which a user approves. */
  signingApprovalClockSecondsMax: 600,

  slugCharactersMax: 48,
  /** Maximum of required approvals of an organization, and of its signatories: each signs its founding. */
  approvalsNeededMax: 20,
  /** Length of the suffix of a slug that another organization has: a hyphen and random letters. */
  slugSuffixCharacters: 9,
  keyGrantsAtOnceMax: 64,
  /** Time for which a domain stays verified without its proof. */
  domainGraceSeconds: 7 * 24 * 3600,
  /** Days for which events of the audit log are kept. */
  retentionDaysMin: 30,
  retentionDaysMax: 3650,
  retentionDaysDefault: 730,
  invitationUsesMax: 1000,
  invitationMessageCharactersMax: 500,
  invitationImportBytesMax: 1024 * 1024,
  adminTokenNetworksMax: 20,
  sinkHeaderCharactersMax: 2000,
  /**
   * Of the redirect targets in the envelope of an app key, of each, and of all together: with the longest key, the
   * envelope is a ciphertext of at most `ciphertextBytesMax`.
   */
  appKeyRedirectsMax: 20,
  appKeyRedirectCharactersMax: 2000,
  appKeyRedirectsCharactersMax: 8000,
  /** Of a self-record before it is sealed. */
  selfRecordBytesMax: 32 * 1024,
  /** Keys of one identity that a self-record names before the log contains them. */
  selfRecordPendingMax: 4,
  deviceApprovalLifetimeSeconds: 5 * 60,
  deviceApprovalTriesMax: 3,
  /** Of the code for the answering device, and of the code it returns. */
  deviceApprovalDigits: 6,
  deviceConfirmationDigits: 2,
  /** Of the passphrase of a new backup, which nothing else protects. */
  backupPassphraseCharactersMin: 16,
} as const
