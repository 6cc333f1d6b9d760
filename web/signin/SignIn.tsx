import type { Identity } from '@countersign/protocol/identities'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, Refused } from '../call.ts'
import { grantableScopes } from '../scope-words.ts'
import { readSession } from '../session.ts'
import { Actions } from '../ui/Actions.tsx'
import { Authenticate } from '../ui/Authenticate.tsx'
import { useDoing } from '../ui/doing.ts'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { readView } from '../view.ts'
import { AppHeading } from './AppHeading.tsx'
import { ChooseIdentity } from './ChooseIdentity.tsx'
import { Consent } from './Consent.tsx'
import { Leave } from './Leave.tsx'
import { isSettled, nextStep, type Event, type Grant, type Step } from './steps.ts'

export function SignIn() {
  const words = useWords()
  const view = readView('signin')
  const doing = useDoing()
  const [step, setStep] = useState<Step>({ at: 'look' })
  const current = useRef(step)

  /** Goes to the step after an event, and does what that step does by itself. */
  async function advance(event: Event): Promise<void> {
    const next = nextStep(current.current, event, view)
    current.current = next
    setStep(next)
    if (next.at === 'read grant') return readGrant(next.identity)
    if (next.at === 'consent' && isSettled(next.grant)) return approve()
  }

  async function look() {
    const session = await readSession()
    await advance(session ? { type: 'signed in', identities: session.identities } : { type: 'nobody signed in' })
  }

  async function readGrant(identity: Identity) {
    const grant = await asSignedIn(() => grantOf(identity, view.app.clientId, view.scope))
    if (grant) await advance({ type: 'grant read', grant })
  }

  async function approve() {
    const { current: consent } = current
    if (consent.at !== 'consent') return
    const answer = await asSignedIn(() => call('POST /api/oauth/authorize', { body: requestOf(view, consent.identity) }))
    if (!answer) return
    await advance({ type: 'approved' })
    location.replace(answer.redirectUrl)
  }

  async function deny() {
    await advance({ type: 'denied' })
    location.replace(view.denyUrl)
  }

  async function useAnotherAccount() {
    await call('DELETE /api/auth/session', {})
    await advance({ type: 'nobody signed in' })
  }

  /** A session may end at any moment, in another tab for one: then the person signs in again. */
  async function asSignedIn<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Refused && error.status === 401)) throw error
      await advance({ type: 'nobody signed in' })
      return undefined
    }
  }

  useEffect(() => void doing.perform({ name: 'look', do: look }), [])
  useEffect(reloadWhenRestored, [])

  const heading = <AppHeading app={view.app} />
  const retry = step.at === 'read grant' ? () => readGrant(step.identity) : look
  const returnTo = `${location.pathname}${location.search}`
  return (
    <Frame title={words.signin.documentTitle(view.app.name)}>
      {step.at === 'authenticate' ? (
        <Authenticate
          heading={heading}
          returnTo={returnTo}
          doing={doing}
          onSignedIn={({ identities }) => advance({ type: 'signed in', identities })}
        />
      ) : (
        <section class="step">
          {heading}
          {(step.at === 'look' || step.at === 'read grant') &&
            (doing.problem === undefined ? (
              <Waiting />
            ) : (
              <Actions of={[{ name: 'retry', label: words.account.retry, do: retry }]} doing={doing} />
            ))}
          {step.at === 'choose identity' && (
            <ChooseIdentity
              {...step}
              doing={doing}
              onChoose={(identity) => advance({ type: 'identity chosen', identity })}
              onOther={useAnotherAccount}
              onDeny={deny}
            />
          )}
          {step.at === 'consent' && (
            <Consent
              {...step}
              view={view}
              doing={doing}
              onApprove={approve}
              onDeny={deny}
              onChange={() => advance({ type: 'another identity wanted' })}
            />
          )}
          {step.at === 'leave' && <Leave {...step} redirectUri={view.redirectUri} />}
        </section>
      )}
    </Frame>
  )
}

async function grantOf(identity: Identity, clientId: string, wanted: string[]): Promise<Grant> {
  const scope = grantableScopes(wanted, identity).join(' ')
  const { authorization, missingScopes } = await call('GET /api/oauth/authorization/:clientId', {
    params: { clientId },
    querystring: { identity_id: identity.identityId, scope },
  })
  return { exists: authorization !== null, missing: missingScopes }
}

type View = ReturnType<typeof readView<'signin'>>

function requestOf({ app, redirectUri, scope, state, nonce, codeChallenge }: View, identity: Identity) {
  return {
    clientId: app.clientId,
    redirectUri,
    identityId: identity.identityId,
    scope: grantableScopes(scope, identity).join(' '),
    ...(state !== undefined && { state }),
    ...(nonce !== undefined && { nonce }),
    ...(codeChallenge !== undefined && { codeChallenge, codeChallengeMethod: 'S256' }),
  }
}

/** Coming back from the app by the back button restores the page as it was left, at its end: it begins anew instead. */
function reloadWhenRestored() {
  const reload = (event: PageTransitionEvent) => event.persisted && location.reload()
  addEventListener('pageshow', reload)
  return () => removeEventListener('pageshow', reload)
}
