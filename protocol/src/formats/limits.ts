import { pageLimits } from './registries/page-limits.ts'

/** Lifetimes and sizes of the interface (§8), each named with its unit. */
export const limits = {
  ...pageLimits,

  bodyBytesMax: 64 * 1024,
  jsonDepthMax: 32,

  groupsMax: 2000,
  /** Groups of organizations among them. As users create organizations, the others stay free for operators. */
  groupsOfOrganizationsMax: 1000,
  /** Receivers of the audit log, each with so many headers and selected actions. */
  sinksMax: 10,
  sinkHeadersMax: 10,
  sinkActionsMax: 20,
  sinkCaCharactersMax: 16_384,
  /** Of a document that is applied, as JSON. */
  documentBytesMax: 1024 * 1024,
  appsPerDocumentMax: 1000,
  organizationsPerDocumentMax: 1000,
  invitationsListedPerDocumentMax: 2000,
  /** Objects that a plan deletes without a confirmed count. */
  unconfirmedDeletionsMax: 5,
  /** How long what a document no longer names is disabled before it is deleted. */
  prunedObjectSeconds: 30 * 24 * 3600,
  groupsPerIdentityMax: 500,
  /** Groups of an organization, and rules of an SSO connection that name them. */
  groupsPerOrganizationMax: 50,
  groupRulesPerConnectionMax: 50,
  /** For how long an identity stays in a group that its identity provider named. */
  upstreamMembershipSeconds: 30 * 24 * 3600,
  /** Members that one request adds and removes, together. */
  groupMemberChangesMax: 1000,
  /** Groups that an app names. */
  groupsPerAppMax: 100,
  /** Organizations that an app names for its access. */
  organizationsPerAppMax: 100,
  /** Roles of an app. Each can be assigned to so many groups and single identities. */
  rolesPerAppMax: 50,
  groupsPerRoleMax: 100,
  identitiesPerRoleMax: 100,
  /** Mapped claims of an app, and characters of a value. */
  claimsPerAppMax: 40,
  mappedValueCharactersMax: 256,
  accessContactCharactersMax: 200,

  handleCharactersMin: 3,
  handleCharactersMax: 32,
  recoveryLinkLifetimeSeconds: 3600,
  /** How long the user must have verified the address that gets a recovery link. */
  recoveryAddressVerifiedSeconds: 7 * 24 * 3600,
  /** How long no recovery link of the account can be redeemed after its user stopped one. */
  recoveryLockSeconds: 7 * 24 * 3600,
  /** How long another passkey of the account can undo a completed recovery. */
  recoveryHoldSeconds: 7 * 24 * 3600,
  recoveryLinkKeptSeconds: 30 * 24 * 3600,
  /** How long what a reset of the keys or of an app key replaces is kept. */
  formerKeysKeptSeconds: 90 * 24 * 3600,
  clientIdCharactersMax: 300,
  /** Days of an app's usage that its developer sees, and those that are stored. */
  usageShownDays: 30,
  usageKeptDays: 90,
  redirectUrisMax: 50,
  /** Time for which a former handle stays reserved for its owner. */
  handleReservedSeconds: 90 * 24 * 3600,
  /** Of an uploaded picture, and of each side in pixels. */
  pictureBytesMax: 2 * 1024 * 1024,
  pictureSideMax: 4096,
  /** Time to put an uploaded picture of an organization to use: that of a proposal and its act, and a day more. */
  offeredPictureLifetimeSeconds: 8 * 24 * 3600,
  /** Uploaded pictures that an organization may have without using them; a further one replaces the oldest. */
  offeredPicturesMax: 20,
  emailCodeDigits: 6,
  emailCodeLifetimeSeconds: 10 * 60,
  emailCodeTriesMax: 5,
  sessionsPerUserMax: 100,
  /** Sign-ins to apps that a session continues when another one of the same user has replaced it. */
  appsPassedOnMax: 1000,
  sessionIdleSeconds: 30 * 24 * 3600,
  sessionLifetimeSeconds: 90 * 24 * 3600,
  /** Acts that a session has started and neither done nor declined. A further one replaces the oldest. */
  openActsPerSessionMax: 5,
  /** Entries of a trail in a response, for a page that follows it. */
  actTrailEntriesMax: 500,
  /** Lifetime of an SSO sign-in for a user's session, and of a session opened by SSO alone. */
  enterpriseSsoSeconds: 24 * 3600,
  /** Minimum interval between audit events for an owner's session without SSO. */
  ssoBypassRecordedSeconds: 3600,
  /** Time for which either is kept after it has expired. */
  sessionNotesKeptSeconds: 24 * 3600,
  /** Lifetime of the bearer token of a page on the business host. */
  businessTokenLifetimeSeconds: 5 * 60,
  userAgentCharactersMax: 300,

  /** Time until the browser must open a pushed request, and time for the user to answer it after that. */
  pushedRequestLifetimeSeconds: 60,
  pushedRequestOpenSeconds: 10 * 60,
  /** Lifetime of a stored request from a browser, within which a passkey can be used for it. */
  keptRequestLifetimeSeconds: 30 * 60,
  /** Maximum size of a stored request as JSON: the longest `state`, and 4 kB for the rest, ten times the usual size. */
  keptRequestBytesMax: 12 * 1024,
  /** Maximum of unanswered requests of one source; the oldest is replaced. */
  keptRequestsOfSourceMax: 3000,
  codeLifetimeSeconds: 60,
  /** Time for an app to exchange its assertion, and for a user to finish in the window. */
  fedcmAssertionLifetimeSeconds: 60,
  fedcmContinuationLifetimeSeconds: 10 * 60,
  accessTokenLifetimeSeconds: 3600,
  delegatedTokenLifetimeSeconds: 600,
  /** Time after authentication for which a user counts as present for a delegation. */
  userPresentSeconds: 3600,
  delegationUsesRecordedSeconds: 24 * 3600,
  delegationUsesShownMax: 200,
  /** Interval between audit events for revocations of access tokens of one token family. */
  accessRevocationRecordedSeconds: 3600,
  /** Maximum lead of an issuer's clock over the reader's clock. */
  clockSkewSecondsMax: 60,
  refreshTokenIdleSeconds: 30 * 24 * 3600,
  refreshTokenLifetimeSeconds: 180 * 24 * 3600,
  /** Grace period of the last rotated refresh token, for lost responses and parallel tabs. */
  refreshRetrySeconds: 10,
  /** Maximum successors of one generation; more than any legitimate number of parallel tabs. */
  refreshSiblingsMax: 64,

  /** Maximum grace period of a replaced client secret, and maximum of valid secrets of an app. */
  clientSecretGraceSecondsMax: 7 * 24 * 3600,
  clientSecretsMax: 10,
  /** Maximum of secrets with which a webhook signs: the current one and replaced ones. */
  webhookSecretsMax: 4,
  /** Webhooks of the service. */
  serviceWebhooksMax: 20,
  /** Time for a receiver to answer, and retention of deliveries. */
  webhookAnswerSeconds: 10,
  webhookDeliveryKeptSeconds: 30 * 24 * 3600,
  /** Time for which clients may cache the key set (JWKS). */
  keySetMaxAgeSeconds: 3600,
  /** Maximum age of the signing keys cached by a process of this service. */
  signingKeyStaleSeconds: 60,
  /** Time for which keys are published before they sign: longer than clients may cache the key set. */
  signingKeyScheduledLeadSeconds: 24 * 3600,
  signingKeyLeadSeconds: 2 * 3600,
  /** In an emergency, just long enough for every process to load them, with small clock differences. */
  signingKeyEmergencyLeadSeconds: 90,
  signingKeyPeriodSeconds: 90 * 24 * 3600,
  /** Time for which keys stay published after they have signed: longer than any of their tokens is valid. */
  signingKeyPublishedAfterSeconds: 2 * 3600,
  /** Retention of keys after they have signed, as long as a session: ID tokens are sent back as hints. */
  signingKeyRememberedSeconds: 90 * 24 * 3600,

  /** Of a signing request: each character of the payload may take two escapes of six bytes each. */
  signingRequestBytesMax: 256 * 1024,
  signingPayloadCharactersMax: 10_000,
  signingDemoPayloadCharactersMax: 1000,
  signingMetadataBytesMax: 16 * 1024,
  signingMetadataDepthMax: 8,
  signingLifetimeSeconds: 300,
  signingLifetimeSecondsMin: 60,
  /** Maximum of pending requests of one app for one identity; and of an app that the identity has not connected. */
  signingPendingMax: 20,
  /** Signing keys of one identity in all: receipts contain the log entries of each. */
  signingKeysMax: 200,
  signingPendingOfUnconnectedMax: 3,
  /**
   * Maximum of pending requests of all connected apps together, and of all others together, for one identity or
   * organization. Each connected app has a few reserved ones.
   */
  signingPendingOfConnectedTogetherMax: 100,
  signingPendingOfConnectedBeyondMax: 3,
  signingPendingOfUnconnectedTogetherMax: 50,
  /** Maximum of started approvals of one request by one identity; the oldest is replaced. */
  signingApprovalFlowsMax: 5,
  /** Interval between audit events for requests of one app to one signer, and their maximum for unconnected apps. */
  signingRequestRecordedSeconds: 3600,
  signingRequestRecordedOfUnconnectedMax: 3,
  /** Page of requests: maximum count, maximum size as JSON, and maximum size of its texts before serialization. */
  signingPageMax: 100,
  signingHistoryPage: 50,
  organizationDocumentsPage: 20,
  signingPageBytesMax: 1024 * 1024,
  signingPageTextBytesMax: 256 * 1024,
  /** Retention of unsigned requests. */
  signingEndedRememberedSeconds: 30 * 24 * 3600,

  transparencyLeavesMax: 256,
  /** Of one identity, each with its proof. */
  transparencyEventsMax: 100,
  /** Time for which a former slug stays reserved for its organization, and maximum of reserved slugs of one. */
  slugReservedSeconds: 90 * 24 * 3600,
  slugsReservedMax: 3,
  /**
   * Minimum age of a deleted organization without other members whose slugs stay reserved, and their maximum for one
   * user.
   */
  slugKeptAfterSeconds: 7 * 24 * 3600,
  slugsOfDeletedMax: 20,
  signatoriesMax: 100,
  /** Maximum of open proposals of an organization. */
  proposalsMax: 20,
  /** When a requested reset of a council may be completed, and when it must have been. */
  councilResetAfterSeconds: 14 * 24 * 3600,
  councilResetUntilSeconds: 28 * 24 * 3600,
  organizationsPerIdentityMax: 100,
  invitationLifetimeSeconds: 7 * 24 * 3600,
  invitationsWaitingMax: 200,
  /** Invitations that a user sees at once. */
  invitationsShownMax: 100,
  /** How long a verified address lets its identity accept an invitation to it without the link that was mailed. */
  recentEmailProofSeconds: 30 * 24 * 3600,
  memberSearchCharactersMax: 100,
  domainsPerOrganizationMax: 50,
  ssoConnectionsPerOrganizationMax: 10,
  /** Maximum of keys of an organization, including former ones; and maximum of members to wrap one for at once. */
  organizationKeysMax: 50,
  keyGrantCharactersMax: 1024,
  /**
   * Maximum of users that a directory may provision by SCIM for one connection, of results per page, and of characters
   * per value.
   */
  provisionedPeopleMax: 20_000,
  provisionedPeoplePageMax: 200,
  provisionedTextCharactersMax: 255,
  /** Interval between checks of a verified domain, and retry interval if its name servers did not answer. */
  domainCheckSeconds: 24 * 3600,
  domainCheckAgainSeconds: 3600,
  domainSilenceSeconds: 7 * 24 * 3600,

  /** Of answers and metadata of an identity provider: a user with many groups has a long answer. */
  samlResponseBytesMax: 128 * 1024,
  samlFormBytesMax: 256 * 1024,
  /** Of the signed part of an answer: the library that verifies signatures takes up to 0.1 ms for each. */
  samlSignedElementsMax: 1000,
  samlSignedAttributesMax: 1500,
  samlMetadataBytesMax: 256 * 1024,
  /** Time for which a former encryption key for a provider can decrypt, and maximum of such keys. */
  samlFormerKeySeconds: 30 * 24 * 3600,
  samlEncryptionKeysMax: 3,

  operatorsMax: 200,
  setupLinkLifetimeSeconds: 24 * 3600,
  /** Pending invitations to register an account. */
  accountInvitationsMax: 20_000,
  /** Identities that operators have added and that no one has accepted. */
  invitedIdentitiesMax: 20_000,
  groupsPerInvitationMax: 20,
  accountInvitationSecondsDefault: 7 * 24 * 3600,
  accountInvitationSecondsMin: 3600,
  accountInvitationSecondsMax: 90 * 24 * 3600,
  invitationImportRowsMax: 5000,
  /** New invitations of one document that is applied: each is mailed before the answer. */
  invitationsPerDocumentMax: 200,
  /** For how long an expired invitation is listed. */
  accountInvitationListedSeconds: 30 * 24 * 3600,
  /** SCIM tokens, and what a directory sends with one. */
  scimTokensMax: 10,
  scimTokenDaysMax: 366,
  scimPageMax: 200,
  scimStartIndexMax: 10_000,
  scimEmailsMax: 10,
  /** Members that a response shows, of all of its groups. */
  scimMembersShownMax: 10_000,
  /** Operations of a request that compare each member with a filter. */
  scimMemberScansMax: 5,
  /** Resources of a SCIM token that are read for a filter which no index serves. */
  scimScannedMax: 100_000,
  adminTokensMax: 50,
  adminTokenDaysDefault: 90,
  adminTokenDaysMax: 366,
  adminTokenGraceSecondsMax: 86_400,
  /** For how long an expired admin token is listed. */
  adminTokenListedSeconds: 30 * 24 * 3600,

  ciphertextBytesMax: 16 * 1024,
  /** Of an app key in a FedCM assertion, which is four times the longest. */
  appKeyJweCharactersMax: 4096,
  /** Of the ciphertext of a self-record: base64url, and the header of the envelope. */
  selfRecordCiphertextBytesMax: 44 * 1024,
  keyWrapsMax: 40,
  /** Pending ones of a user. */
  deviceApprovalsMax: 3,
  stateCharactersMax: 8192,
  nonceCharactersMax: 1024,
} as const
