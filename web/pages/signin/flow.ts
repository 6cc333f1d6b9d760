import { missingClaims } from '@countersign/protocol/formats/required-claims'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { useRef, useState } from 'preact/hooks'
import { call } from '../../lib/call.ts'
import { leave } from '../../lib/leave.ts'
import { grantableScopes } from '../../lib/text/scope-words.ts'
import { mustSignIn, readSession, type Session } from '../../lib/session.ts'
import { waysToApprove, type Owner } from './approving.ts'
import { scopeTextOf } from './consent/delegating.ts'
import { waysToEnd } from './ending.ts'
import { isSettled, nextStep, type Event, type Grant, type Step } from './steps.ts'

/** The step where the person is, and all that can be done about it. */
export function useFlow(view: SignInView) {
  const [step, setStep] = useState<Step>({ at: 'look' })
  const current = useRef(step)
  const owner = useRef<Owner | undefined>(undefined)
  const authMethod = useRef<Session['authMethod']>('passkey')
  const present = useRef<Identity[]>([])

  /** Goes to the step after an event, and does what that step does by itself. */
  async function advance(event: Event): Promise<void> {
    const next = nextStep(current.current, event, view)
    current.current = next
    setStep(next)
    if (next.at === 'read grant') return readGrant(next.identity)
    if (next.at === 'authenticate') {
      ways.forgetKeys()
      authMethod.current = 'passkey'
    }
    if (next.at === 'consent' && isSettled(next.grant, view)) return ways.goOn()
    if (next.at === 'leave silently' || (next.at === 'withdrawn' && view.silently)) return ends.leaveSilently()
  }

  async function look() {
    const session = await readSession()
    // An organization signs people in for itself alone, has no keys of theirs, and lets no app act elsewhere as them.
    const takesPasskey = view.organization === undefined || view.key || view.connector
    const isForOther = session?.authMethod === 'enterprise_sso' && takesPasskey
    if (!session || isForOther) return advance({ type: 'nobody signed in' })
    const { identities, secondsSinceAuthTime: ageSeconds, user } = session
    owner.current = user
    authMethod.current = session.authMethod
    present.current = identities
    await advance({ type: 'session found', identities, ageSeconds })
  }

  async function readGrant(identity: Identity) {
    const grant = await whileSignedIn(() => grantOf(identity, view, authMethod.current))
    if (grant) await advance({ type: 'grant read', grant })
  }

  /** The person may have added an address to their name, in another tab; then the app can have it after all. */
  async function lookAgain() {
    const { current: shown } = current
    if (shown.at !== 'consent') return
    const session = await readSession()
    if (!session) return advance({ type: 'nobody signed in' })
    const { identities } = session
    const changed = identities.some((each) => each.emailVerified && !isVerified(shown.identities, each.identityId))
    if (changed) await advance({ type: 'identities changed', identities })
  }

  async function deny() {
    await advance({ type: 'denied' })
    leave(view.denied)
  }

  async function signOut() {
    await whileSignedIn(() => call('DELETE /api/auth/session', {}))
    await advance({ type: 'nobody signed in' })
  }

  const whileSignedIn = orSigningIn(() => advance({ type: 'nobody signed in' }))
  const hasConnected = () => isConnected(present.current, view, authMethod.current)
  const ends = waysToEnd(view, { step: () => current.current, hasConnected }, advance)
  const ways = waysToApprove(view, { step: () => current.current, owner }, { advance, whileSignedIn })
  return { step, owner, advance, look, lookAgain, readGrant, deny, signOut, ...ends, ...ways }
}

/**
 * A session may end at any moment, in another tab for one: then the person signs in again. So they do where an
 * organization has signed them in, and what they want takes their passkey.
 */
function orSigningIn(signIn: () => Promise<void>) {
  return async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!mustSignIn(error)) throw error
      await signIn()
      return undefined
    }
  }
}

function isVerified(identities: Identity[], identityId: string): boolean {
  return identities.some((each) => each.identityId === identityId && each.emailVerified)
}

async function grantOf(identity: Identity, view: SignInView, authMethod: Session['authMethod']): Promise<Grant> {
  const { app, scope, key, connector: asked, organization } = view
  const { authorization, missingScopes, connector, organizations } = await call(
    'GET /api/oauth/authorization/:clientId',
    {
      params: { clientId: app.clientId },
      querystring: {
        identity_id: identity.identityId,
        scope: grantableScopes(scope, identity).join(' '),
        ...(organization !== undefined && { organization_id: organization }),
        ...(asked && {
          requested_resource: asked.resourceKey,
          requested_scope: scopeTextOf(asked),
          communication_mode: asked.mode,
        }),
      },
    },
  )
  const present = key?.mode === 'asymmetric' ? authorization?.appPublicKey : authorization?.encryptedAppKey
  const hasKey = Boolean(present)
  const elsewhere = { ...(connector && { connector }), ...(organizations && { organizations }) }
  const lacking = missingClaims(view.requiredClaims ?? [], identity)
  // A session that an organization alone opened decides nothing about the others.
  const isAsked = view.organizationAccess !== undefined && authMethod === 'passkey'
  const chosen = isAsked && { organizationAccess: authorization?.organizationAccess !== 'none' }
  // A consent of which nothing is recorded says nothing, but that the app may act elsewhere, which is told beside it.
  const exists = authorization !== null && (authorization.scope !== '' || asked !== undefined)
  return { exists, missing: missingScopes, lacking, hasKey, ...chosen, ...elsewhere }
}

/** Whether one of the identities has connected the app. */
async function isConnected(identities: Identity[], view: SignInView, authMethod: Session['authMethod']) {
  for (const identity of identities) if ((await grantOf(identity, view, authMethod)).exists) return true
  return false
}
