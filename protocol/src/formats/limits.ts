/** Lifetimes and sizes of the interface (§8), each named with its unit. */
export const limits = {
  bodyBytesMax: 64 * 1024,
  jsonDepthMax: 32,
  /** Names in one body, in all its objects together. */
  jsonMembersMax: 5000,

  handleCharactersMin: 3,
  handleCharactersMax: 32,
  displayNameCharactersMax: 80,
  clientIdCharactersMax: 300,
  identitiesPerUserMax: 20,
  passkeysPerUserMax: 20,
  appsPerUserMax: 50,
  resourcesPerAppMax: 20,
  scopesPerResourceMax: 50,
  /** How long a handle that was given up is kept from everybody else. */
  handleReservedSeconds: 90 * 24 * 3600,
  emailCharactersMax: 254,
  /** Of a domain that can be verified: with the name of its challenge before it, it is a name (RFC 1035 §2.3.4). */
  domainCharactersMax: 230,
  emailCodeDigits: 6,
  emailCodeLifetimeSeconds: 10 * 60,
  emailCodeTriesMax: 5,

  flowLifetimeSeconds: 5 * 60,
  sessionsPerUserMax: 100,
  sessionIdleSeconds: 30 * 24 * 3600,
  sessionLifetimeSeconds: 90 * 24 * 3600,
  freshAuthenticationSeconds: 5 * 60,
  /** How long what the provider of an organization has said of a person holds, and a session that it alone opened. */
  enterpriseSsoSeconds: 24 * 3600,
  /** How long the trail tells no more of a session in which an owner came in without it. */
  withoutSsoNotedSeconds: 3600,
  /** How long either is kept when it counts no more. */
  sessionNotesKeptSeconds: 24 * 3600,
  /** How long a page of the business host may speak for a session before it asks again. */
  businessTokenLifetimeSeconds: 5 * 60,
  userAgentCharactersMax: 300,

  /** How long a pushed request waits for the browser, and how long the person then has to answer it. */
  pushedRequestLifetimeSeconds: 60,
  pushedRequestOpenSeconds: 10 * 60,
  /** How long a request that came by a browser is kept, so that a passkey can be used for it. */
  keptRequestLifetimeSeconds: 30 * 60,
  /** How large one may be as JSON: the longest `state`, and 4 kB for all the rest, ten times what requests take. */
  keptRequestBytesMax: 12 * 1024,
  /** How many that nobody has answered are kept of one source; the oldest gives way. */
  keptRequestsOfSourceMax: 3000,
  codeLifetimeSeconds: 60,
  /** How long an app has to exchange the assertion that a browser gave it, and a person to finish in the window. */
  fedcmAssertionLifetimeSeconds: 60,
  fedcmContinuationLifetimeSeconds: 10 * 60,
  accessTokenLifetimeSeconds: 3600,
  delegatedTokenLifetimeSeconds: 600,
  /** For how long after they proved who they are a person counts as present to a delegation. */
  userPresentSeconds: 3600,
  /** How long a revoked delegation is remembered, and each use of any; and how often the trail tells of uses. */
  delegationRememberedSeconds: 90 * 24 * 3600,
  delegationUsesRecordedSeconds: 24 * 3600,
  delegationUsesShownMax: 200,
  /** How often the audit log records that an app revoked access tokens of one token family. */
  accessRevocationRecordedSeconds: 3600,
  /** By how much the clock of whoever issued a token may be ahead of the clock of whoever reads it. */
  clockSkewSecondsMax: 60,
  refreshTokenIdleSeconds: 30 * 24 * 3600,
  refreshTokenLifetimeSeconds: 180 * 24 * 3600,
  /** How long the refresh token rotated last may be presented again: a lost response, parallel tabs. */
  refreshRetrySeconds: 10,
  /** Successors of one generation; more than any honest number of parallel tabs. */
  refreshSiblingsMax: 64,

  /** How long a replaced client secret may work still, and how many secrets of an app may work at once. */
  clientSecretGraceSecondsMax: 7 * 24 * 3600,
  clientSecretsMax: 10,
  /** How many secrets of a webhook may sign at once: one in force, and replaced ones. */
  webhookSecretsMax: 4,
  /** How long a receiver has to answer, and how long what it was sent is remembered. */
  webhookAnswerSeconds: 10,
  webhookDeliveryKeptSeconds: 30 * 24 * 3600,
  /** How long the key set (JWKS) may be kept by whoever has read it. */
  keySetMaxAgeSeconds: 3600,
  /** How old at most is what a process of ours knows of the signing keys. */
  signingKeyStaleSeconds: 60,
  /** How long keys are published before they sign: longer than anyone may keep the key set. */
  signingKeyScheduledLeadSeconds: 24 * 3600,
  signingKeyLeadSeconds: 2 * 3600,
  /** In an emergency just so long that every process knows them, with clocks that differ a little. */
  signingKeyEmergencyLeadSeconds: 90,
  signingKeyPeriodSeconds: 90 * 24 * 3600,
  /** How long keys are published after they have signed: longer than any token of theirs lives. */
  signingKeyPublishedAfterSeconds: 2 * 3600,
  /** How long we know them after they have signed, as long as a session: ID tokens come back as hints. */
  signingKeyRememberedSeconds: 90 * 24 * 3600,

  /** Of a request to sign: each character of the payload may come as two escapes, of six bytes each. */
  signingRequestBytesMax: 256 * 1024,
  signingPayloadCharactersMax: 10_000,
  signingDemoPayloadCharactersMax: 1000,
  signingMetadataBytesMax: 16 * 1024,
  signingMetadataDepthMax: 8,
  signingLifetimeSeconds: 300,
  signingLifetimeSecondsMin: 60,
  signingLifetimeSecondsMax: 3600,
  signingWaitSecondsMax: 30,
  /** Requests of one app that may wait for one identity; and where the identity has never connected the app. */
  signingPendingMax: 20,
  signingPendingOfUnconnectedMax: 3,
  /**
   * Of all apps that are connected together, and of all others together, for one identity or organization. Each app
   * that is connected has a few beyond.
   */
  signingPendingOfConnectedTogetherMax: 100,
  signingPendingOfConnectedBeyondMax: 3,
  signingPendingOfUnconnectedTogetherMax: 50,
  /** How often the audit log records that an app asked one signer, and for how many that are not connected. */
  signingRequestRecordedSeconds: 3600,
  signingRequestRecordedOfUnconnectedMax: 3,
  /** A page of requests: how many, how large as JSON, and how much of that their texts may be before it is written. */
  signingPageMax: 100,
  signingHistoryPage: 50,
  signingPageBytesMax: 1024 * 1024,
  signingPageTextBytesMax: 256 * 1024,
  /** How long a request is remembered that led to nothing. */
  signingEndedRememberedSeconds: 30 * 24 * 3600,

  transparencyLeavesMax: 256,
  /** Of one identity, each with its proof. */
  transparencyEventsMax: 100,

  slugCharactersMax: 48,
  /** How long a slug that was given up is kept for its organization, and how many of one are. */
  slugReservedSeconds: 90 * 24 * 3600,
  slugsReservedMax: 3,
  /** How old a deleted organization without other members was whose slugs are kept, and how many are for one user. */
  slugKeptAfterSeconds: 7 * 24 * 3600,
  slugsOfDeletedMax: 20,
  /** How many members an organization may have approve what it signs. */
  approvalsNeededMax: 20,
  /** Of what is put after a slug that another organization has: a hyphen and random letters. */
  slugSuffixCharacters: 9,
  organizationsPerIdentityMax: 100,
  invitationLifetimeSeconds: 7 * 24 * 3600,
  invitationsWaitingMax: 200,
  domainsPerOrganizationMax: 50,
  ssoConnectionsPerOrganizationMax: 10,
  /** Of an organization, with those that are no longer in force; and how many members are granted one at once. */
  organizationKeysMax: 50,
  keyGrantsAtOnceMax: 64,
  keyGrantCharactersMax: 1024,
  /** Whom a directory may name by SCIM to one connection, how many it is told of at once, and how long each word is. */
  provisionedPeopleMax: 20_000,
  provisionedPeoplePageMax: 200,
  provisionedTextCharactersMax: 255,
  /** How often a verified domain is looked at again, and how soon where nobody answered. */
  domainCheckSeconds: 24 * 3600,
  domainCheckAgainSeconds: 3600,
  /** How long a domain counts as verified whose proof is gone; and how long its name servers may say nothing at all. */
  domainGraceSeconds: 7 * 24 * 3600,
  domainSilenceSeconds: 7 * 24 * 3600,

  /** Of what an identity provider answers and says of itself: a person of many groups has a long answer. */
  samlResponseBytesMax: 128 * 1024,
  samlFormBytesMax: 256 * 1024,
  /** Of a part of an answer that is signed: the library that verifies signatures needs up to 0.1 ms for each. */
  samlSignedElementsMax: 1000,
  samlMetadataBytesMax: 256 * 1024,
  /** How long the key to which a provider encrypts opens once another is published, and how many open at once. */
  samlFormerKeySeconds: 30 * 24 * 3600,
  samlEncryptionKeysMax: 3,

  ciphertextBytesMax: 16 * 1024,
  keyWrapsMax: 40,
  /** How long a device waits for another one to unlock it, and how many of a person may wait at once. */
  deviceApprovalLifetimeSeconds: 5 * 60,
  deviceApprovalsMax: 3,
  deviceApprovalTriesMax: 3,
  /** Of the code that goes to the device that answers, and of the one that comes back. */
  deviceApprovalDigits: 6,
  deviceConfirmationDigits: 2,
  stateCharactersMax: 8192,
  nonceCharactersMax: 1024,
} as const
