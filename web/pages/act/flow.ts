import type { MasterKey } from '@countersign/keys/master-key'
import { useRef, useState } from 'preact/hooks'
import {
  type ActPlace,
  confirmAct,
  type ConfirmedAct,
  declineAct,
  loadAct,
  performAct,
  stopReasonOf,
} from '../../lib/acts/act.ts'
import { type ActOutcome, parseActPlace, returnAddress } from '../../lib/acts/returning.ts'
import { ApiError, NetworkError } from '../../lib/api/call.ts'
import type { Candidates } from '../../lib/keys/presence.ts'
import { fetchOwnSession, isSignInRequired, type Session } from '../../lib/session/session.ts'
import { readPageData } from '../../lib/page-data.ts'
import { withLateTexts } from '../../locales/late-texts.ts'
import { showUser } from '../../components/frame/shown-user.ts'
import { loadHand } from '../../components/signature/hand.ts'
import { oneTimeResultOf, type Question, type Step } from './steps.ts'
import { loadActionSubject } from '../../lib/acts/subject.ts'

/** The signed-in user. */
export type Owner = Pick<Session, 'user' | 'identities'>

/** Loads the display of an act while the service answers what it is: it includes the display of exact texts. */
const loadDecide = () => withLateTexts(import('./Decide.tsx'))
export type Display = Awaited<ReturnType<typeof loadDecide>>

/** The current step of signing an act, and its actions. */
export function useFlow() {
  const { site } = readPageData('act')
  const place = parseActPlace(location.search)
  const [step, setStep] = useState<Step>({ at: 'look' })
  const owner = useRef<Owner | undefined>(undefined)
  const display = useRef<Display | undefined>(undefined)

  async function look() {
    const session = await fetchOwnSession()
    if (!session) return setStep({ at: 'authenticate' })
    await enter(session, false)
  }

  async function enter(session: Owner, isNewSession: boolean) {
    owner.current = session
    showUser(session.user)
    const isOwn = session.identities.some(({ identityId }) => identityId === place?.identityId)
    if (!place || !isOwn) return setStep({ at: 'unknown', isNewSession: false })
    const [next, loaded] = await Promise.all([load(place, isNewSession), loadDecide(), loadHand()])
    display.current = loaded
    setStep(next)
  }

  /** One use of a passkey confirms the act and, with most passkeys, unlocks the key. */
  async function confirm(question: Question, candidates: Candidates) {
    const { user } = owner.current ?? {}
    if (!user) return setStep({ at: 'authenticate' })
    const result = await confirmAct(question.started, { rpId: site.relyingPartyId, candidates })
    if ('stop' in result) return setStep({ at: 'stopped', why: result.stop })
    const { keyWraps, used, confirmed } = result
    const vault = await import('../../lib/keys/key-vault.ts')
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, user.userId)
    if (!masterKey) return setStep({ at: 'enter code', question, keyWraps, confirmed })
    await signWith(masterKey, confirmed)
  }

  /** Also after the recovery code or another device has unlocked the keys: the passkey has confirmed before. */
  async function signWith(masterKey: MasterKey, confirmed: ConfirmedAct) {
    try {
      const done = await performAct(masterKey, confirmed)
      if ('stop' in done) return setStep({ at: 'stopped', why: done.stop })
      const shown = oneTimeResultOf(confirmed.started.shown.action, done.result)
      if (shown) return setStep({ at: 'result', shown })
      leave('done')
    } catch (error) {
      const why = stopReasonOf(error)
      if (why) return setStep({ at: 'stopped', why })
      const isRefused = error instanceof ApiError && error.code === 'invalid_credential'
      if (!isRefused && isSignInRequired(error)) return setStep({ at: 'authenticate' })
      throw error
    } finally {
      masterKey.forget()
    }
  }

  async function decline() {
    if (place) await declineAct(place).catch(acceptUndeclined)
    leave('declined')
  }

  function leave(outcome: ActOutcome) {
    setStep({ at: 'leave' })
    location.replace(returnAddress(site.businessUrl, location.search, place?.actId ?? '', outcome))
  }

  const turnBack = (question: Question) => setStep({ at: 'decide', question })
  const state = { step, owner: owner.current, display: display.current }
  const signedIn = (session: Owner) => enter(session, true)
  return { ...state, look, signedIn, confirm, signWith, decline, leave, turnBack }
}

/** The state and the actions of this page. */
export type ActFlow = ReturnType<typeof useFlow>

async function load(place: ActPlace, isNewSession: boolean): Promise<Step> {
  try {
    const started = await loadAct(place)
    if ('stop' in started) return { at: 'stopped', why: started.stop }
    return { at: 'decide', question: { started, subject: await loadActionSubject(started.shown) } }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'act_not_found') return { at: 'unknown', isNewSession }
    if (isSignInRequired(error)) return { at: 'authenticate' }
    throw error
  }
}

/** An act that is not declined in time ends by itself. The member goes back in any case. */
function acceptUndeclined(error: unknown): void {
  if (!(error instanceof ApiError || error instanceof NetworkError)) throw error
}
