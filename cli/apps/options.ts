import type { AppChange } from '@countersign/protocol/clients/apps'
import { type Algorithm, algorithms } from '@countersign/protocol/formats/registries/algorithms'
import { organizationAccessLevels, type OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import {
  isRequirableClaim,
  requirableClaims,
  type RequirableClaim,
} from '@countersign/protocol/formats/required-claims'
import { isStandardScope, parseScope, standardScopes, type StandardScope } from '@countersign/protocol/formats/scope'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { collect } from '../options/values.ts'

type Access = NonNullable<AppChange['access']>
type GroupsClaim = NonNullable<AppChange['groupsClaim']>['include']

/** Returns the options that `create` and `change` share; an empty string removes an optional setting. */
export type SettingOptions = {
  scope?: StandardScope[]
  e2ee?: boolean
  appKeyRecipientJwk?: string
  alg?: Algorithm
  description?: string
  iconUrl?: string
  websiteUrl?: string
  privacyUrl?: string
  termsUrl?: string
  accessTokenTtlSeconds?: number
  refreshTokenTtlSeconds?: number
  requireAuthTime?: boolean
  idTokenClaims?: boolean
  requiredClaims?: RequirableClaim[]
  organizationAccess?: OrganizationAccess
  backchannelLogoutUri?: string
  backchannelLogoutSessionRequired?: boolean
  allowAnyLoopbackPort?: boolean
  access?: Access['mode']
  accessGroup?: string[]
  accessOrganization?: string[]
  accessContact?: string
  groupsClaim?: GroupsClaim
}

export function addSettingOptions(command: Command): Command {
  return command
    .option('--scope <scopes>', `scopes that the app can request, of: ${standardScopes.join(' ')}`, collectScopes)
    .option('--e2ee', 'support end-to-end encryption keys')
    .option('--no-e2ee', 'no support for end-to-end encryption keys')
    .option('--app-key-recipient-jwk <jwk>', "public key of the app's server, to which its app keys can be bound")
    .addOption(new Option('--alg <alg>', 'algorithm that signs its ID tokens').choices(algorithms))
    .option('--description <text>', 'one sentence about the app')
    .option('--icon-url <url>', 'its icon')
    .option('--website-url <url>', 'its website')
    .option('--privacy-url <url>', 'URL of its privacy policy')
    .option('--terms-url <url>', 'URL of its terms of service')
    .option('--access-token-ttl-seconds <seconds>', 'lifetime of its access tokens', toSeconds)
    .option('--refresh-token-ttl-seconds <seconds>', 'lifetime of its refresh tokens', toSeconds)
    .option('--require-auth-time', 'its ID tokens always contain auth_time')
    .option('--no-require-auth-time', 'its ID tokens contain auth_time if a request has max_age')
    .option('--id-token-claims', 'its ID tokens contain name, username and e-mail (default)')
    .option('--no-id-token-claims', 'only the userinfo endpoint returns name, username and e-mail')
    .option(
      '--required-claims <claims>',
      `claims that users need to sign in, of: ${requirableClaims.join(' ')}; '' for none`,
      collectClaims,
    )
    .addOption(
      new Option('--organization-access <level>', "access to users' organizations").choices([
        ...organizationAccessLevels,
      ]),
    )
    .option('--backchannel-logout-uri <url>', 'URL that receives logout tokens')
    .option('--backchannel-logout-session-required', 'logout tokens must contain sid')
    .option('--no-backchannel-logout-session-required', 'logout tokens need only sub')
    .option('--allow-any-loopback-port', 'redirect URIs at 127.0.0.1 and [::1] match every port')
    .option('--no-allow-any-loopback-port', 'redirect URIs match their own port only')
    .addOption(
      new Option('--access <mode>', 'who may use it: everyone, only its groups and organizations, or no one').choices([
        'everyone',
        'restricted',
        'none',
      ]),
    )
    .option('--access-group <key>', "replaces its groups (repeatable); '' for none", collect)
    .option('--access-organization <slug>', "replaces its organizations (repeatable); '' for none", collect)
    .option('--access-contact <text>', "shown to users without access; '' for none")
    .addOption(
      new Option('--groups-claim <groups>', 'groups that the scope groups gives: its own, or all of the user').choices([
        'assigned',
        'all',
      ]),
    )
}

/** Returns the given settings, by the names of the API. */
export function settingFieldsOf(options: SettingOptions): AppChange {
  const { requireAuthTime, idTokenClaims, requiredClaims, organizationAccess } = options
  const { backchannelLogoutSessionRequired, allowAnyLoopbackPort, accessTokenTtlSeconds } = options
  const { scope, e2ee, alg, refreshTokenTtlSeconds } = options
  const given: AppChange = {
    ...(scope && { allowedScopes: scope }),
    ...(e2ee !== undefined && { supportsE2ee: e2ee }),
    ...(alg && { idTokenSignedResponseAlg: alg }),
    ...(accessTokenTtlSeconds !== undefined && { accessTokenTtlSeconds }),
    ...(refreshTokenTtlSeconds !== undefined && { refreshTokenTtlSeconds }),
    ...(requireAuthTime !== undefined && { requireAuthTime }),
    ...(idTokenClaims !== undefined && { idTokenClaims }),
    ...(requiredClaims && { requiredClaims }),
    ...(organizationAccess && { organizationAccess }),
    ...(backchannelLogoutSessionRequired !== undefined && { backchannelLogoutSessionRequired }),
    ...(allowAnyLoopbackPort !== undefined && { allowAnyLoopbackPort }),
    ...accessFieldsOf(options),
  }
  const absentable = [
    ...(['description', 'iconUrl', 'websiteUrl', 'privacyUrl', 'termsUrl'] as const),
    ...(['backchannelLogoutUri', 'appKeyRecipientJwk'] as const),
  ]
  for (const field of absentable) {
    const text = options[field]
    if (text !== undefined) given[field] = text === '' ? null : text
  }
  return given
}

/** Returns the names that a repeated option gave, each once. An empty one stands for none. */
function namesOf(given: string[]): string[] {
  return [...new Set(given.filter((name) => name !== ''))]
}

function accessFieldsOf(options: SettingOptions): Pick<AppChange, 'access' | 'groupsClaim'> {
  const { access: mode, accessGroup, accessOrganization, accessContact, groupsClaim } = options
  const access: Access = {
    ...(mode && { mode }),
    ...(accessGroup && { groups: namesOf(accessGroup) }),
    ...(accessOrganization && { organizations: namesOf(accessOrganization) }),
    ...(accessContact !== undefined && { contact: accessContact === '' ? null : accessContact }),
  }
  return {
    ...(Object.keys(access).length > 0 && { access }),
    ...(groupsClaim && { groupsClaim: { include: groupsClaim } }),
  }
}

function collectScopes(list: string, before: StandardScope[] = []): StandardScope[] {
  const unknown = parseScope(list).find((scope) => !isStandardScope(scope))
  if (unknown) throw new InvalidArgumentError(`${unknown} is not a scope for apps.`)
  return [...before, ...parseScope(list).filter(isStandardScope)]
}

function collectClaims(list: string, before: RequirableClaim[] = []): RequirableClaim[] {
  const unknown = parseScope(list).find((claim) => !isRequirableClaim(claim))
  if (unknown) throw new InvalidArgumentError(`${unknown} is not a claim that an app can require.`)
  return [...before, ...parseScope(list).filter(isRequirableClaim)]
}

export function toSeconds(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('Must be a whole number of seconds.')
  return Number(text)
}
