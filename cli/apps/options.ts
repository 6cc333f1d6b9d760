import type { Algorithm, AppChange } from '@countersign/protocol/clients/apps'
import { organizationAccessLevels, type OrganizationAccess } from '@countersign/protocol/formats/organization-access'
import {
  isRequirableClaim,
  requirableClaims,
  type RequirableClaim,
} from '@countersign/protocol/formats/required-claims'
import { isStandardScope, scopesOf, standardScopes, type StandardScope } from '@countersign/protocol/formats/scope'
import { InvalidArgumentError, Option, type Command } from 'commander'

/** The flags of settings that `create` and `change` share; an empty text takes away what may be absent. */
export type SettingOptions = {
  scope?: StandardScope[]
  e2ee?: boolean
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
}

export function addSettingOptions(command: Command): Command {
  return command
    .option('--scope <scopes>', `what it may ask for, of: ${standardScopes.join(' ')}`, collectScopes)
    .option('--e2ee', 'it takes keys for end-to-end encryption')
    .option('--no-e2ee', 'it takes none')
    .addOption(new Option('--alg <alg>', 'what signs its ID tokens').choices(['RS256', 'ES256', 'EdDSA']))
    .option('--description <text>', 'one sentence about it')
    .option('--icon-url <url>', 'its icon')
    .option('--website-url <url>', 'its website')
    .option('--privacy-url <url>', 'its privacy policy')
    .option('--terms-url <url>', 'its terms of service')
    .option('--access-token-ttl-seconds <seconds>', 'how long its access tokens live', toSeconds)
    .option('--refresh-token-ttl-seconds <seconds>', 'how long its refresh tokens live', toSeconds)
    .option('--require-auth-time', 'its ID tokens always carry auth_time')
    .option('--no-require-auth-time', 'its ID tokens carry auth_time where a request has max_age')
    .option('--id-token-claims', 'its ID tokens carry name, username and e-mail (default)')
    .option('--no-id-token-claims', 'only the userinfo endpoint returns name, username and e-mail')
    .option(
      '--required-claims <claims>',
      `users without these can't sign in, of: ${requirableClaims.join(' ')}; '' for none`,
      collectClaims,
    )
    .addOption(
      new Option('--organization-access <level>', "what it may do with users' organizations").choices([
        ...organizationAccessLevels,
      ]),
    )
    .option('--backchannel-logout-uri <url>', 'where it receives logout tokens')
    .option('--backchannel-logout-session-required', 'it needs sid in logout tokens')
    .option('--no-backchannel-logout-session-required', 'sub is enough')
    .option('--allow-any-loopback-port', 'its redirect URIs at 127.0.0.1 and [::1] stand for every port')
    .option('--no-allow-any-loopback-port', 'they stand for the port that they name')
}

/** What was given, by the names of the API. */
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
  }
  const absentable = ['description', 'iconUrl', 'websiteUrl', 'privacyUrl', 'termsUrl', 'backchannelLogoutUri'] as const
  for (const field of absentable) {
    const text = options[field]
    if (text !== undefined) given[field] = text === '' ? null : text
  }
  return given
}

export function collect(uri: string, before: string[] = []): string[] {
  return [...before, uri]
}

function collectScopes(list: string, before: StandardScope[] = []): StandardScope[] {
  const unknown = scopesOf(list).find((scope) => !isStandardScope(scope))
  if (unknown) throw new InvalidArgumentError(`${unknown} is not a scope that an app may have.`)
  return [...before, ...scopesOf(list).filter(isStandardScope)]
}

function collectClaims(list: string, before: RequirableClaim[] = []): RequirableClaim[] {
  const unknown = scopesOf(list).find((claim) => !isRequirableClaim(claim))
  if (unknown) throw new InvalidArgumentError(`${unknown} is not a claim that an app may require.`)
  return [...before, ...scopesOf(list).filter(isRequirableClaim)]
}

export function toSeconds(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('A whole number of seconds.')
  return Number(text)
}
