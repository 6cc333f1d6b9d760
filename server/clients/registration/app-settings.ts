import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { defaultAllowedScopes } from '@countersign/protocol/formats/scope'
import { isLocal } from '#platform/config/config.ts'
import type { Kernel } from '#platform/module/services.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { refusals } from '#platform/refusal.ts'
import type { RegisteredApp } from './app-directory.ts'
import { requireRedirectUri } from './redirect-uri.ts'
import { always, never, whereNoLess, whereNoneIsGone, whereOn, type Lagging } from './settings-change.ts'

/** What may be set of an app, and changed later. */
export type AppSettings = Omit<
  RegisteredApp,
  | 'clientId'
  | 'ownerUserId'
  | 'isPublic'
  | 'isHeld'
  | 'secretsSha256'
  | 'secretsEndAt'
  | 'documentReadAt'
  | 'createdAt'
  | 'updatedAt'
>
export type NewAppSettings = Pick<AppSettings, 'name' | 'redirectUris'> & Partial<AppSettings>

const refuse = refusals({ invalid_request: [400, 'The settings of the app are not acceptable.'] })

/** Which changes of an app other processes may learn of a moment later: of what is shown, and those that only add. */
export const laggingAppSettings: Lagging<AppSettings> = {
  name: always,
  description: always,
  iconUrl: always,
  websiteUrl: always,
  privacyUrl: always,
  termsUrl: always,
  redirectUris: whereNoneIsGone,
  postLogoutRedirectUris: whereNoneIsGone,
  allowedScopes: whereNoneIsGone,
  accessTokenSeconds: whereNoLess,
  refreshTokenSeconds: whereNoLess,
  supportsE2ee: whereOn,
  allowAnyLoopbackPort: whereOn,
  status: never,
  idTokenAlgorithm: never,
  requireAuthTime: never,
  idTokenClaims: never,
  requiredClaims: never,
  organizationAccess: never,
  backchannelLogoutUri: never,
  backchannelLogoutSessionRequired: never,
}

/** What an app is that does not say; RS256 as OpenID Connect Registration §2 has it. */
export const defaultSettings: Omit<AppSettings, 'name' | 'redirectUris'> = {
  description: null,
  iconUrl: null,
  websiteUrl: null,
  privacyUrl: null,
  termsUrl: null,
  postLogoutRedirectUris: [],
  allowedScopes: [...defaultAllowedScopes],
  supportsE2ee: false,
  status: 'active',
  idTokenAlgorithm: 'RS256',
  accessTokenSeconds: limits.accessTokenLifetimeSeconds,
  refreshTokenSeconds: limits.refreshTokenIdleSeconds,
  requireAuthTime: false,
  idTokenClaims: true,
  requiredClaims: [],
  organizationAccess: 'create',
  backchannelLogoutUri: null,
  backchannelLogoutSessionRequired: false,
  allowAnyLoopbackPort: false,
}

const webUrls = ['iconUrl', 'websiteUrl', 'privacyUrl', 'termsUrl'] as const

/**
 * Refuses settings with which an app could disguise itself or send people astray: `invalid_redirect_uri`, or
 * `invalid_request`, which names the field.
 */
export function requireAcceptable(
  { isPublic, ...settings }: Partial<AppSettings> & { isPublic: boolean },
  { outbound, config: ours }: Pick<Kernel, 'outbound' | 'config'>,
): void {
  if (settings.name !== undefined && !isDisplayName(settings.name))
    throw refuse.invalid_request({ sentence: 'The name is 1 to 80 characters, none of them invisible.' })
  if (settings.description && !isShown(settings.description))
    throw refuse.invalid_request({ sentence: 'The description has an invisible character.' })

  for (const field of webUrls) if (settings[field]) requireWebUrl(field, settings[field])
  const { backchannelLogoutUri } = settings
  const objection = backchannelLogoutUri ? outbound.objectionTo(backchannelLogoutUri) : undefined
  if (objection !== undefined) throw refuse.invalid_request({ sentence: `backchannelLogoutUri ${objection}.` })
  if (settings.allowAnyLoopbackPort && !isPublic)
    throw refuse.invalid_request({ sentence: 'allowAnyLoopbackPort is for public apps: they run on a user’s device.' })
  for (const uri of settings.redirectUris ?? []) requireRedirectUri(uri, { isPublic, ours })
  for (const uri of settings.postLogoutRedirectUris ?? [])
    requireRedirectUri(uri, { isPublic, ours, kind: 'post-logout redirect URI' })
}

function requireWebUrl(field: string, text: string): void {
  const url = /^[\x21-\x7e]+$/.test(text) ? URL.parse(text) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal(url))
  if (!url || !isSafe || !hasPlainHost(url) || url.username !== '' || url.password !== '')
    throw refuse.invalid_request({ sentence: `${field} must start with https://, or http:// on localhost.` })
}
