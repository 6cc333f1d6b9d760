import type { App, AppChange } from '@countersign/protocol/clients/apps'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isEncryptionScope, isStandardScope, type StandardScope } from '@countersign/protocol/formats/scope'

/** The settings of an app as a person writes them: addresses one a line. */
export type Draft = {
  name: string
  redirectUris: string
  postLogoutRedirectUris: string
  allowedScopes: StandardScope[]
  supportsE2ee: boolean
  idTokenSignedResponseAlg: App['idTokenSignedResponseAlg']
  requiredClaims: App['requiredClaims']
  organizationAccess: App['organizationAccess']
  backchannelLogoutUri: string
} & Record<Switch, boolean>

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
    redirectUris: app.redirectUris.join('\n'),
    postLogoutRedirectUris: app.postLogoutRedirectUris.join('\n'),
    allowedScopes: app.allowedScopes.filter(isStandardScope),
    supportsE2ee: app.supportsE2ee,
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

/** The addresses in a text, each once: no address has a space. */
export function addressesIn(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((line) => line !== ''))]
}

export type DraftFault = 'name' | 'redirectUris' | 'postLogoutRedirectUris' | 'backchannelLogoutUri'

/** The fields that cannot be right. What else may be wrong with an address the server knows. */
export function faultsOf(draft: Pick<Draft, 'name' | 'redirectUris'> & Partial<Draft>): Set<DraftFault> {
  const faults = new Set<DraftFault>()
  const redirectUris = addressesIn(draft.redirectUris)
  if (!isDisplayName(draft.name)) faults.add('name')
  if (redirectUris.length === 0 || !redirectUris.every(isAddress)) faults.add('redirectUris')
  if (!addressesIn(draft.postLogoutRedirectUris ?? '').every(isAddress)) faults.add('postLogoutRedirectUris')
  const { backchannelLogoutUri = '' } = draft
  if (backchannelLogoutUri !== '' && !isAddress(backchannelLogoutUri)) faults.add('backchannelLogoutUri')
  return faults
}

function isAddress(text: string): boolean {
  return URL.canParse(text)
}

/** What a draft changes of an app: only that is sent, since some of it asks for the passkey. */
export function changeOf(app: App, draft: Draft): AppChange {
  const drawn = {
    name: draft.name,
    redirectUris: addressesIn(draft.redirectUris),
    postLogoutRedirectUris: addressesIn(draft.postLogoutRedirectUris),
    allowedScopes: [...draft.allowedScopes, ...app.allowedScopes.filter(isEncryptionScope)],
    supportsE2ee: draft.supportsE2ee,
    idTokenSignedResponseAlg: draft.idTokenSignedResponseAlg,
    requiredClaims: draft.requiredClaims,
    organizationAccess: draft.organizationAccess,
    backchannelLogoutUri: draft.backchannelLogoutUri === '' ? null : draft.backchannelLogoutUri,
    requireAuthTime: draft.requireAuthTime,
    idTokenClaims: draft.idTokenClaims,
    backchannelLogoutSessionRequired: draft.backchannelLogoutSessionRequired,
    allowAnyLoopbackPort: draft.allowAnyLoopbackPort,
  }
  const fields = Object.keys(drawn) as (keyof typeof drawn)[]
  const changed = fields.filter((field) => JSON.stringify(drawn[field]) !== JSON.stringify(app[field]))
  return Object.fromEntries(changed.map((field) => [field, drawn[field]]))
}
