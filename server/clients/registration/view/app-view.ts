import type { App, PublicApp } from '@countersign/protocol/clients/apps'
import { isRequirableClaim } from '@countersign/protocol/formats/required-claims'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ListedApp } from '../directory.ts'

/** Returns the public fields of an app. */
export function toPublicApp(app: ListedApp): PublicApp {
  return {
    clientId: app.clientId,
    name: app.name,
    description: app.description,
    iconUrl: app.iconUrl,
    color: app.color,
    websiteUrl: app.websiteUrl,
    privacyUrl: app.privacyUrl,
    termsUrl: app.termsUrl,
    supportsE2ee: app.supportsE2ee,
    appKeyRecipientJwk: app.appKeyRecipientJwk,
    allowedScopes: app.allowedScopes,
  }
}

/** Returns an app with the fields for its owner and the operator, and their version. */
export function toApp(app: ListedApp): App {
  return { version: versionOf(app), ...describeApp(app) }
}

/** Returns the version of the settings of an app: a digest of them. Lists without an order are sorted. */
export function versionOf(app: ListedApp): string {
  const { createdAt: _created, updatedAt: _updated, metadataFetchedAt: _fetched, ...settings } = describeApp(app)
  const { groups, organizations, ...access } = settings.access
  const sorted = { ...access, groups: groups.toSorted(), organizations: organizations.toSorted() }
  return sha256(JSON.stringify({ ...settings, access: sorted }))
    .subarray(0, 16)
    .toString('base64url')
}

/** Returns an app with the fields for its owner and the operator. */
export function describeApp(app: ListedApp): Omit<App, 'version'> {
  return {
    ...toPublicApp(app),
    redirectUris: app.redirectUris,
    postLogoutRedirectUris: app.postLogoutRedirectUris,
    public: app.isPublic,
    status: app.status,
    ownerIdentityId: app.ownerIdentityId,
    idTokenSignedResponseAlg: app.idTokenSignedResponseAlg,
    accessTokenTtlSeconds: app.accessTokenTtlSeconds,
    refreshTokenTtlSeconds: app.refreshTokenTtlSeconds,
    requireAuthTime: app.requireAuthTime,
    idTokenClaims: app.idTokenClaims,
    requiredClaims: app.requiredClaims.filter(isRequirableClaim),
    organizationAccess: app.organizationAccess,
    backchannelLogoutUri: app.backchannelLogoutUri,
    backchannelLogoutSessionRequired: app.backchannelLogoutSessionRequired,
    allowAnyLoopbackPort: app.allowAnyLoopbackPort,
    access: {
      mode: app.access.mode,
      groups: app.access.groups.map(({ key }) => key),
      organizations: app.access.organizations.map(({ slug }) => slug),
      contact: app.access.contact,
    },
    groupsClaim: { include: app.groupsClaim },
    metadataFetchedAt: app.metadataFetchedAt?.toISOString() ?? null,
    createdAt: app.createdAt.toISOString(),
    updatedAt: app.updatedAt.toISOString(),
  }
}
