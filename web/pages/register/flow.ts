import { useState } from 'preact/hooks'
import { showUser } from '../../components/frame/shown-user.ts'
import { ApiError, call } from '../../lib/api/call.ts'
import { type IdentityDraft, emptyDraft, isComplete, isHandleRefused } from '../../lib/text/identity-draft.ts'
import {
  type PrfOutput,
  createPasskey,
  evaluatePrf,
  needsPrfAssertion,
  signInWithPasskey,
} from '../../lib/keys/passkey.ts'
import { firstRecoveryCode, newRecoveryCode } from '../../lib/keys/new-recovery-code.ts'
import { readSession, signOut, type Session } from '../../lib/session/session.ts'
import { rememberUser } from '../../lib/session/known-users.ts'
import { signalUnknownCredential } from '../../lib/keys/passkey-signals.ts'
import { readSiteSettings } from '../../lib/page-data.ts'
import { type Admission, needsEmail } from './admission.ts'
import { useEmailProof } from './email-proof.ts'
import { type Event, type Made, type Prepared, type Step, nextStep, passkeyFailureOf } from './steps.ts'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { isHandle } from '@countersign/protocol/formats/handle'
import type { PendingSsoLogin } from '@countersign/protocol/organizations/sso'

/** The current step, and its actions. `refused` has sentences for errors about the address. */
export function useFlow(admission: Admission, refused: Record<string, string>) {
  const [step, setStep] = useState<Step>({ at: needsEmail(admission, readSiteSettings()) ? 'address' : 'describe' })
  const described = useIdentityDraft()
  const { draft, setDraft, introduce, noteTaken } = described
  const advance = (event: Event) => setStep((current) => nextStep(current, event))
  const { presented, beginning, dropRefused, askAgain, ...proving } = useEmailProof({ admission, refused, advance })

  async function createAccount() {
    if (!isComplete(draft)) return
    const { handle, displayName } = draft
    const body = { handle, displayName, ...presented }
    const started = await call('POST /api/auth/register/start', { body }).catch(askAgain).catch(noteTaken)
    if (!started) return
    const made = { started, passkey: await createPasskey(started.options, await salt()) }
    if (needsPrfAssertion(made.passkey)) return touchAgain(made)
    await finish(made, await prepare(made, made.passkey.prfOutput))
  }

  async function touchAgain(made: Made) {
    advance({ type: 'second touch due', made })
    const output = await evaluatePrf(made.started.options.rp.id, made.passkey.credential.id, await salt())
    await finish(made, await prepare(made, output))
  }

  async function goWithout(made: Made) {
    await finish(made, await prepare(made, undefined))
  }

  async function finish(made: Made, prepared: Prepared) {
    try {
      const body = { ...prepared.finish, ...presented }
      const finished = call('POST /api/auth/register/finish', { body }).catch(dropRefused).catch(signInIfMade)
      const { user, identities } = await finished
      rememberUser({ ...user, credentialId: made.passkey.credential.id }, identities)
      showUser(user)
      advance({ type: 'account made', owner: { user, identities }, prepared })
    } catch (error) {
      advance({ type: 'finish failed', made, prepared, outcome: passkeyFailureOf(error) })
      throw error
    }
  }

  /** Signs the user in if the account exists. The response to an earlier try may have been lost. */
  async function signInIfMade(error: unknown) {
    const mayBeMade = step.at === 'finish' && step.outcome === 'unknown'
    if (!(mayBeMade && error instanceof ApiError && error.code === 'invalid_flow')) throw error
    return signInWithPasskey(draft.handle)
  }

  async function startOver({ passkey }: Made) {
    const isOfNoUse = step.at === 'touch again' || (step.at === 'finish' && step.outcome === 'refused')
    if (isOfNoUse) await signalUnknownCredential(passkey.credential.id)
    advance({ type: 'started over', ...beginning })
  }

  return {
    step,
    draft,
    setDraft,
    introduce,
    advance,
    ...proving,
    ...presentUser(advance, { admission, beginning }, described),
    createAccount,
    touchAgain,
    goWithout,
    finish,
    startOver,
  }
}

/** What the user types about the new identity. */
function useIdentityDraft() {
  const [draft, setDraft] = useState(emptyDraft)

  /** Prefills the form, but not what the user has typed in the meantime, unless they cannot choose it. */
  function introduce({ handle, displayName }: SsoPrefill, areFixed = false) {
    if (areFixed) return setDraft({ handle, displayName, taken: [], isFixed: true })
    setDraft((typed) => ({
      ...typed,
      handle: typed.handle === '' ? handle : typed.handle,
      displayName: typed.displayName === '' ? displayName : typed.displayName,
    }))
  }

  /** Marks the handle as taken. The form shows that at its field. */
  function noteTaken(error: unknown) {
    if (draft.isFixed || !isHandleRefused(error)) throw error
    setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    return undefined
  }

  return { draft, setDraft, introduce, noteTaken }
}

/** What the page does about a user who is signed in already. */
function presentUser(
  advance: (event: Event) => void,
  { admission: { invitation }, beginning }: { admission: Admission; beginning: { needsEmail: boolean } },
  { draft, noteTaken }: Pick<ReturnType<typeof useIdentityDraft>, 'draft' | 'noteTaken'>,
) {
  const isInvited = invitation !== undefined

  /** Asks who is signed in. If the service is unreachable, the registration reports it. */
  async function look() {
    const session = await readSession().catch(() => undefined)
    // An SSO session cannot add an identity, but its user can sign in with a passkey.
    if (session && !(isInvited && session.authMethod !== 'passkey')) found(session)
  }

  function found(session: Session) {
    showUser(session.user)
    advance({ type: 'session found', session, isInvited })
  }

  /** Signs a user in on this page, whose address alone contains the invitation. */
  async function signInHere() {
    await signInWithPasskey('')
    const session = await readSession()
    if (session) found(session)
  }

  async function acceptInvitation() {
    if (invitation === undefined || !isComplete(draft)) return
    const { handle, displayName } = draft
    const body = { handle, displayName, invitation }
    const added = await call('POST /api/identities/invited', { body }).catch(noteTaken)
    if (added) advance({ type: 'identity added' })
  }

  async function signOutFirst() {
    await signOut()
    showUser(undefined)
    advance({ type: 'signed out', ...beginning })
  }

  return { look, signInHere, acceptInvitation, signOutFirst }
}

/** Loads the cryptography while the user types. The page renders without it. */
export function preloadVault(): void {
  // If that fails, the step that needs it tries again and reports the error.
  loadVault().catch(() => undefined)
}

const loadVault = () => import('../../lib/keys/key-vault.ts')

async function salt(): Promise<BufferSource> {
  return (await loadVault()).prfSalt()
}

/**
 * Creates all keys of the new account. If no passkey unlocks them, they are created with the recovery code: an account
 * must have no key that nothing could unlock.
 */
async function prepare({ started, passkey }: Made, prfOutput: PrfOutput | undefined): Promise<Prepared> {
  const { flowId, userId, identityId, log } = started
  const { credential } = passkey
  if (!prfOutput) return { finish: { flowId, credential }, code: await firstRecoveryCode(userId), opensKeys: false }
  const { createAccountKeys } = await loadVault()
  const { masterKey, keys } = await createAccountKeys(
    { userId, identityId, credentialId: credential.id, log },
    prfOutput,
  )
  const code = await newRecoveryCode(masterKey, userId)
  masterKey.forget()
  return { finish: { flowId, credential, ...keys }, code, opensKeys: true }
}

/** Suggested names for a new identity. The user can change them. */
export type SsoPrefill = Pick<IdentityDraft, 'handle' | 'displayName'>

/**
 * Reads the names that the organization's identity provider supplied, if the user comes from an SSO login. The browser
 * that started the login authorizes the request, so a link cannot prefill names. Returns undefined without a pending
 * login.
 */
export async function readSsoPrefill(returnTo: string): Promise<SsoPrefill | undefined> {
  const flowId = /^\/sso\/link\?flow=([0-9a-f-]{36})$/.exec(returnTo)?.[1]
  if (flowId === undefined) return undefined
  // The next page reports errors. Here the user then types their names.
  const arrival = await call('GET /api/sso/arrivals/:flowId', { params: { flowId } }).catch(() => undefined)
  return arrival && introductionOf(arrival)
}

/**
 * Suggests the display name, and a handle from the e-mail address: the characters before the @ that a handle permits.
 */
export function introductionOf({ displayName, email }: Pick<PendingSsoLogin, 'displayName' | 'email'>): SsoPrefill {
  const local = email?.split('@')[0] ?? ''
  const handle = trimMarks(local.replaceAll(/[^A-Za-z0-9._-]+/g, '-'))
  return {
    handle: isHandle(handle) ? handle : '',
    displayName: displayName !== null && isDisplayName(displayName) ? displayName : '',
  }
}

/** Handles begin and end with a letter or a digit. */
function trimMarks(text: string): string {
  const characters = [...text]
  const isMark = (character: string) => '._-'.includes(character)
  const first = characters.findIndex((character) => !isMark(character))
  const last = characters.findLastIndex((character) => !isMark(character))
  return first < 0 ? '' : characters.slice(first, last + 1).join('')
}
