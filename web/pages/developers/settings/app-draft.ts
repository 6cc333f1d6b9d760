import type { App, AppChange } from '@countersign/protocol/clients/apps'
import { parseRecipientKey } from '@countersign/protocol/formats/encryption/recipient-key'
import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import { isEncryptionScope, isStandardScope, type StandardScope } from '@countersign/protocol/formats/scope'
import { parseUrlList } from '../../../lib/urls.ts'
import { isEndpointUrl, isWebUrl } from '../../../lib/uris/web-urls.ts'
import { redirectUriFault, type RedirectUriRules, rulesFor } from '../../../lib/uris/redirect-uris.ts'
import { rebaseLists, urlLists } from './update-app.ts'

/** The input for the settings of an app. URLs are one per line. */
export type Draft = {
  name: string
  description: string
  redirectUris: string
  postLogoutRedirectUris: string
  allowedScopes: StandardScope[]
  supportsE2ee: boolean
  appKeyRecipientJwk: string
  idTokenSignedResponseAlg: App['idTokenSignedResponseAlg']
  requiredClaims: App['requiredClaims']
  organizationAccess: App['organizationAccess']
  backchannelLogoutUri: string
} & Record<Switch, boolean> &
  Record<WebLink, string>

/** Pages of the app that users see when they sign in. */
export const webLinks = ['websiteUrl', 'privacyUrl', 'termsUrl'] as const
export type WebLink = (typeof webLinks)[number]

/** The settings that are on or off. */
export const switches = [
  'requireAuthTime',
  'idTokenClaims',
  'backchannelLogoutSessionRequired',
  'allowAnyLoopbackPort',
] as const
export type Switch = (typeof switches)[number]

export function draftOf(app: App): Draft {
  return {
    name: app.name,
    description: app.description ?? '',
    websiteUrl: app.websiteUrl ?? '',
    privacyUrl: app.privacyUrl ?? '',
    termsUrl: app.termsUrl ?? '',
    redirectUris: app.redirectUris.join('\n'),
    postLogoutRedirectUris: app.postLogoutRedirectUris.join('\n'),
    allowedScopes: app.allowedScopes.filter(isStandardScope),
    supportsE2ee: app.supportsE2ee,
    appKeyRecipientJwk: app.appKeyRecipientJwk ?? '',
    idTokenSignedResponseAlg: app.idTokenSignedResponseAlg,
    requiredClaims: app.requiredClaims,
    organizationAccess: app.organizationAccess,
    backchannelLogoutUri: app.backchannelLogoutUri ?? '',
    requireAuthTime: app.requireAuthTime,
    idTokenClaims: app.idTokenClaims,
    backchannelLogoutSessionRequired: app.backchannelLogoutSessionRequired,
    allowAnyLoopbackPort: app.allowAnyLoopbackPort,
  }
}

export type DraftError =
  | 'name'
  | 'redirectUris'
  | 'postLogoutRedirectUris'
  | 'backchannelLogoutUri'
  | 'appKeyRecipientJwk'
  | 'description'
  | WebLink

/** The length that the service stores. */
const descriptionLengthMax = 500

/** Returns the fields that are certainly invalid. The server does the other checks. */
export function faultsOf(
  draft: Pick<Draft, 'name' | 'redirectUris'> & Partial<Draft>,
  rules: RedirectUriRules,
): Set<DraftError> {
  const faults = new Set<DraftError>()
  const redirectUris = parseUrlList(draft.redirectUris)
  if (!isDisplayName(draft.name)) faults.add('name')
  const isFaulty = (uri: string) => redirectUriFault(uri, rules) !== undefined
  if (redirectUris.length === 0 || redirectUris.some(isFaulty)) faults.add('redirectUris')
  if (parseUrlList(draft.postLogoutRedirectUris ?? '').some(isFaulty)) faults.add('postLogoutRedirectUris')
  const description = textOrNull(draft.description ?? '')
  if (description && (!isShown(description) || description.length > descriptionLengthMax)) faults.add('description')
  for (const link of webLinks) {
    const url = textOrNull(draft[link] ?? '')
    if (url !== null && !isWebUrl(url)) faults.add(link)
  }
  const backchannelLogoutUri = textOrNull(draft.backchannelLogoutUri ?? '')
  if (backchannelLogoutUri !== null && !isEndpointUrl(backchannelLogoutUri)) faults.add('backchannelLogoutUri')
  const { appKeyRecipientJwk = '' } = draft
  if (appKeyRecipientJwk !== '' && !parseRecipientKey(appKeyRecipientJwk)) faults.add('appKeyRecipientJwk')
  return faults
}

function textOrNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim()
}

/** Returns the settings that a draft changes. Only these are sent, because some require re-authentication. */
export function changeOf(app: App, draft: Draft): AppChange {
  // An unedited draft may differ from the app, for example in the order of the scopes.
  const [settings, unedited] = [settingsIn(app, draft), settingsIn(app, draftOf(app))]
  const fields = Object.keys(settings) as (keyof typeof settings)[]
  const changed = fields.filter((field) => JSON.stringify(settings[field]) !== JSON.stringify(unedited[field]))
  return Object.fromEntries(changed.map((field) => [field, settings[field]]))
}

/** Returns the settings of an app as a draft says them. */
function settingsIn(app: App, draft: Draft) {
  return {
    name: draft.name,
    description: textOrNull(draft.description),
    websiteUrl: textOrNull(draft.websiteUrl),
    privacyUrl: textOrNull(draft.privacyUrl),
    termsUrl: textOrNull(draft.termsUrl),
    redirectUris: parseUrlList(draft.redirectUris),
    postLogoutRedirectUris: parseUrlList(draft.postLogoutRedirectUris),
    allowedScopes: [...draft.allowedScopes, ...app.allowedScopes.filter(isEncryptionScope)],
    supportsE2ee: draft.supportsE2ee,
    appKeyRecipientJwk: textOrNull(draft.appKeyRecipientJwk),
    idTokenSignedResponseAlg: draft.idTokenSignedResponseAlg,
    requiredClaims: draft.requiredClaims,
    organizationAccess: draft.organizationAccess,
    backchannelLogoutUri: textOrNull(draft.backchannelLogoutUri),
    requireAuthTime: draft.requireAuthTime,
    idTokenClaims: draft.idTokenClaims,
    backchannelLogoutSessionRequired: draft.backchannelLogoutSessionRequired,
    allowAnyLoopbackPort: draft.allowAnyLoopbackPort,
  }
}

/**
 * Returns the fields with a fault among those that a draft changes. A setting that was registered before the present
 * rules is not sent unless it is edited, and stops no other one.
 */
export function faultsOfChange(app: App, draft: Draft): Set<DraftError> {
  const change = changeOf(app, draft)
  return new Set([...faultsOf(draft, rulesFor(app.public))].filter((field) => change[field] !== undefined))
}

/**
 * Returns what changes in a draft of `before` to make it a draft of `now`: what was not edited, and URLs that were
 * added or removed meanwhile.
 */
export function rebaseDraft(draft: Draft, before: App, now: App): Partial<Draft> {
  const [from, to] = [draftOf(before), draftOf(now)]
  const isSame = (one: Draft, other: Draft, field: keyof Draft) =>
    JSON.stringify(one[field]) === JSON.stringify(other[field])
  const rebased = { ...to }
  const edited = rebaseLists(before, changeOf(before, draft), now)
  for (const list of urlLists) if (edited[list]) rebased[list] = edited[list].join('\n')
  const fields = Object.keys(to) as (keyof Draft)[]
  const followed = fields.filter((field) => {
    const isFollowing = isSame(draft, from, field) || urlLists.some((list) => list === field)
    return !isSame(from, to, field) && isFollowing && !isSame(draft, rebased, field)
  })
  return Object.fromEntries(followed.map((field) => [field, rebased[field]]))
}
