import type { MasterKey } from '@countersign/keys/master-key'
import type { Answer } from '@countersign/protocol/api'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { Connector, Leaving, SignInView, Withdrawal } from '@countersign/protocol/pages'
import { call, Refused } from '../../lib/call.ts'
import { leave } from '../../lib/leave.ts'
import { reauthenticate, withFreshProof, type SignedIn } from '../../lib/passkey.ts'
import { grantableScopes } from '../../lib/text/scope-words.ts'
import { isAsAsked, leadsTo } from './asked-place.ts'
import { scopeTextOf } from './consent/delegating.ts'
import { toBrowser } from './federated.ts'
import { isSettled, mayApprove, type Approving, type Event, type Grant, type Step } from './steps.ts'

const loadVault = () => import('../../lib/vault.ts')
const loadAppKey = () => import('./consent/app-key.ts')

/** Whose keys the page may open, and what opens them, from the touch that did so until the person leaves. */
export type Owner = { userId: string; masterKey?: MasterKey }

type Place = { step: () => Step; owner: { current: Owner | undefined } }
type Flow = {
  advance: (event: Event) => Promise<void>
  whileSignedIn: <T>(work: () => Promise<T>) => Promise<T | undefined>
}

/** How a person goes on to the app with what they agree to, and with the key that it takes, if it takes one. */
export function waysToApprove(view: SignInView, place: Place, { advance, whileSignedIn }: Flow) {
  /** The passkey that signed the person in may have opened their keys as well. */
  async function signedIn({ user, identities, keyWraps, used }: SignedIn) {
    const masterKey = view.key && (await (await loadVault()).openWithPasskey(keyWraps, used, user.userId))
    place.owner.current = { ...user, ...(masterKey && { masterKey }) }
    await advance({ type: 'signed in', identities })
  }

  /** Where nothing is left to agree to. Keys that are shut open by a touch of the person's: it is asked for. */
  async function goOn() {
    if (!view.key || place.owner.current?.masterKey) return approve()
    await advance({ type: 'keys needed' })
    const shut = await whileSignedIn(readKeyWraps)
    if (shut && !shut.some(({ kind }) => kind === 'passkey_prf'))
      await advance({ type: 'keys are shut', keyWraps: shut })
  }

  async function approve() {
    if (!mayHandOver()) return
    const masterKey = view.key && (place.owner.current?.masterKey ?? (await whileSignedIn(unlock)))
    if (!view.key || masterKey) await approveWith(masterKey)
  }

  /** Opens the keys with a passkey; what it does not open, the recovery code does. */
  async function unlock(): Promise<MasterKey | undefined> {
    const { masterKey, keyWraps } = await openWithPresence(place.owner.current?.userId ?? '', view.requestUri)
    if (!masterKey) await advance({ type: 'keys are shut', keyWraps })
    return masterKey
  }

  async function useCode() {
    const keyWraps = await whileSignedIn(readKeyWraps)
    if (keyWraps) await advance({ type: 'keys are shut', keyWraps })
  }

  /** Without keys where the app takes none. They are forgotten once the person has left with what they opened. */
  async function approveWith(masterKey: MasterKey | undefined) {
    const approving = place.step()
    if (!mayApprove(approving) || !mayHandOver()) return
    if (place.owner.current && masterKey) place.owner.current = { ...place.owner.current, masterKey }
    const agree = () => withFreshProof(() => consent(view, approving, masterKey), view.requestUri)
    const outcome = await whileSignedIn(() => agree().catch((error: unknown) => endBy(error, view)))
    if (!outcome) return
    if (typeof outcome === 'string') return advance({ type: 'withdrawn', why: outcome })
    forgetKeys()
    if ('ledTo' in outcome) return advance({ type: 'led elsewhere', to: outcome.ledTo })
    await advance({ type: 'approved' })
    leave(outcome)
  }

  /** Whether the key would go where the app has asked for it; where it would not, the way ends here. */
  function mayHandOver(): boolean {
    if (!view.key || isAsAsked(view, location.search)) return true
    void advance({ type: 'led elsewhere', to: view.redirectUri })
    return false
  }

  function forgetKeys() {
    place.owner.current?.masterKey?.forget()
    if (place.owner.current) place.owner.current = { userId: place.owner.current.userId }
  }

  return { signedIn, goOn, approve, approveWith, useCode, forgetKeys }
}

/** What a refused consent comes to: where nothing may be asked and the sign-in is too old, the browser goes back. */
function endBy(error: unknown, view: SignInView): Withdrawal | Leaving {
  const tooOld = error instanceof Refused && error.code === 'login_required'
  return tooOld && view.silently ? view.silently.login_required : withdrawalBy(error, view)
}

/** Why a consent is refused that came too late: the other app has given up meanwhile what was asked for. */
function withdrawalBy(error: unknown, { connector }: SignInView): Withdrawal {
  if (!connector || !(error instanceof Refused)) throw error
  if (error.code !== 'invalid_target' && error.code !== 'invalid_scope') throw error
  return error.code
}

/**
 * Sends the consent; answers where the browser goes, with the key in the fragment. Where the server would lead it to
 * another place than the app has asked for, no key leaves, and it answers that place.
 */
async function consent(
  view: SignInView,
  { identity, grant }: Approving,
  masterKey: MasterKey | undefined,
): Promise<Leaving | { ledTo: string }> {
  const { key, app } = view
  const { organization } = grant
  const body = {
    ...requestOf(view, identity),
    ...(organization && { organizationId: organization.id }),
    ...accessOf(view, grant),
  }
  if (!key || !masterKey) {
    const leaving = leavingOf(await call('POST /api/oauth/authorize', { body }))
    return view.givenTo === undefined ? leaving : toBrowser(view, identity, leaving)
  }
  const { newKeyFor, fragmentOf } = await loadAppKey()
  const place = { identityId: identity.identityId, clientId: app.clientId }
  const made = grant.hasKey && !key.reset ? {} : await newKeyFor(masterKey, place, key)
  const answer = await call('POST /api/oauth/authorize', { body: { ...body, ...made } })
  if (!leadsTo(answer.redirectUrl, view.redirectUri)) return { ledTo: answer.redirectUrl }
  return { url: `${answer.redirectUrl}#${await fragmentOf(masterKey, place, answer, key)}` }
}

/** How far the app may go with organizations, where the user has seen that; else what they chose before stays. */
function accessOf(view: SignInView, grant: Grant) {
  if (!view.organizationAccess || grant.organizationAccess === undefined || isSettled(grant, view)) return {}
  return { organizationAccess: grant.organizationAccess ? view.organizationAccess : ('none' as const) }
}

function leavingOf({ redirectUrl, formFields }: Answer<'POST /api/oauth/authorize'>): Leaving {
  return { url: redirectUrl, ...(formFields && { fields: formFields }) }
}

async function readKeyWraps(): Promise<KeyWrap[]> {
  return (await call('GET /api/account/key-wraps', {})).keyWraps
}

/**
 * Opens a person's keys by a touch that also proves that they are there, for a new key asks for that. Without a passkey
 * that opens anything it answers what else there is to open them with, and asks for no touch.
 */
async function openWithPresence(
  userId: string,
  requestUri: string | undefined,
): Promise<{ keyWraps: KeyWrap[]; masterKey?: MasterKey }> {
  const [vault, keyWraps] = await Promise.all([loadVault(), readKeyWraps()])
  if (!keyWraps.some(({ kind }) => kind === 'passkey_prf')) return { keyWraps }
  const used = await reauthenticate(await vault.prfSalt(), { requestUri })
  const masterKey = await vault.openWithPasskey(keyWraps, used, userId)
  return { keyWraps, ...(masterKey && { masterKey }) }
}

function requestOf(view: SignInView, identity: Identity) {
  const {
    app,
    redirectUri,
    state,
    nonce,
    codeChallenge,
    prompts,
    maxAgeSeconds,
    formPost,
    requestUri,
    key,
    connector,
    givenTo,
  } = view
  const shared = grantableScopes(view.scope, identity)
  const withheld = view.scope.filter((each) => !shared.includes(each))
  const scope = [...shared, ...(key?.reset ? ['e2ee:reset'] : [])]
  return {
    clientId: app.clientId,
    redirectUri,
    identityId: identity.identityId,
    scope: scope.join(' '),
    ...(withheld.length > 0 && { withheldScope: withheld.join(' ') }),
    ...(state !== undefined && { state }),
    ...(nonce !== undefined && { nonce }),
    ...(codeChallenge !== undefined && { codeChallenge, codeChallengeMethod: 'S256' }),
    ...(prompts.length > 0 && { prompt: prompts.join(' ') }),
    ...(maxAgeSeconds !== undefined && { maxAge: maxAgeSeconds }),
    ...(givenTo !== undefined && { fedcmContinue: true }),
    ...(formPost && { responseMode: 'form_post' }),
    ...(requestUri !== undefined && { requestUri }),
    ...(connector && connectorOf(connector)),
  }
}

/** What the person was shown, and nothing else. */
function connectorOf(connector: Connector) {
  return {
    connector: true,
    requestedResource: connector.resourceKey,
    requestedResourceId: connector.resourceId,
    requestedScope: scopeTextOf(connector),
    communicationMode: connector.mode,
  }
}
