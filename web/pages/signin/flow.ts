import { missingClaims } from '@countersign/protocol/formats/required-claims'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { SignInView } from '@countersign/protocol/pages'
import { useRef, useState } from 'preact/hooks'
import { showUserInChanges } from '../../components/frame/shown-user.ts'
import { call } from '../../lib/api/call.ts'
import { submitRedirect } from '../../lib/navigation.ts'
import { grantableScopes } from '../../lib/text/scope-words.ts'
import { rememberIdentity } from '../../lib/session/known-users.ts'
import { isSignInRequired, readSession, type Session } from '../../lib/session/session.ts'
import { useApproval, type Owner } from './approving.ts'
import { scopeTextOf } from './consent/delegating.ts'
import { storedKeyOf } from '../../lib/keys/stored-app-key.ts'
import { waysToEnd } from './ending.ts'
import { loadNoAccess } from './late/loading.ts'
import { acceptsSso, candidatesOf, isSettled, nextStep, type Event, type Grant, type Step } from './steps.ts'

/** The current step, and its actions. */
export function useFlow(view: SignInView) {
  const [step, setStep] = useState<Step>({ at: 'look' })
  const current = useRef(step)
  const owner = useRef<Owner | undefined>(undefined)
  const authMethod = useRef<Session['authMethod']>('passkey')
  const present = useRef<Identity[]>([])
  const last = useRef<string | undefined>(undefined)

  /** Goes to the step after an event, and runs what that step does on its own. */
  async function advance(event: Event): Promise<void> {
    const next = nextStep(current.current, event, view)
    current.current = next
    // The list of identities must not change its order before the user's eyes.
    if (next.at === 'choose identity' && next.identities.length > 1 && authMethod.current === 'passkey')
      last.current ??= await lastIdentityIn(view)
    if (current.current !== next) return
    setStep(next)
    if (next.at === 'leave' && next.identity && owner.current) rememberIdentity(owner.current.userId, next.identity)
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
    const isForOther = session?.authMethod === 'enterprise_sso' && !acceptsSso(view)
    if (!session || isForOther) return advance({ type: 'nobody signed in' })
    const { identities, secondsSinceAuthTime: ageSeconds, user } = session
    owner.current = user
    showUserInChanges(user)
    authMethod.current = session.authMethod
    present.current = identities
    const candidates = candidatesOf(identities, view)
    // Without a prompt, only those of several that connected the app count: it must not learn of others.
    const isSilent = view.prompts.includes('none') && candidates.length > 1
    const found = isSilent ? await whileSignedIn(() => listConnected(candidates)) : identities
    if (found) await advance({ type: 'session found', identities: found, ageSeconds })
  }

  async function readGrant(identity: Identity) {
    const grant = await whileSignedIn(() => grantOf(identity, view, authMethod.current))
    if (grant?.accessDenied) await loadNoAccess()
    if (grant) await advance({ type: 'grant read', grant })
  }

  /** Reads the identities again. The user may have verified an e-mail address in another tab that the app requires. */
  async function lookAgain() {
    const { current: shown } = current
    if (shown.at !== 'consent') return
    const session = await readSession()
    if (!session) return advance({ type: 'nobody signed in' })
    const { identities } = session
    const changed = identities.some((each) => each.emailVerified && !isVerified(shown.identities, each.identityId))
    if (changed) await advance({ type: 'identities changed', identities })
  }

  const whileSignedIn = orSigningIn(() => advance({ type: 'nobody signed in' }))
  const listConnected = (among: Identity[]) => connectedAmong(among, view, authMethod.current)
  const hasConnected = async () => (await listConnected(present.current)).length > 0
  const ends = waysToEnd(view, { step: () => current.current, hasConnected }, advance)
  const ways = useApproval(view, { step: () => current.current, owner }, { advance, whileSignedIn })
  const isByPasskey = () => authMethod.current === 'passkey'
  const lastIdentityId = () => last.current
  const reads = { look, lookAgain, readGrant, isByPasskey, lastIdentityId }
  return { step, owner, advance, ...reads, ...choices(view, { advance, whileSignedIn }), ...ends, ...ways }
}

type Choosing = { advance: (event: Event) => Promise<void>; whileSignedIn: ReturnType<typeof orSigningIn> }

/** What the user does while they choose an identity. */
function choices(view: SignInView, { advance, whileSignedIn }: Choosing) {
  /** Creates an identity, and continues as it. Throws like the API. */
  async function addIdentity(body: { handle: string; displayName: string }) {
    const identity = await call('POST /api/identities', { body })
    await advance({ type: 'identity added', identity })
  }

  async function deny() {
    await advance({ type: 'denied' })
    submitRedirect(view.denied)
  }

  async function signOut() {
    await whileSignedIn(() => call('DELETE /api/auth/session', {}))
    await advance({ type: 'nobody signed in' })
  }

  return { addIdentity, deny, signOut }
}

/**
 * Runs `work`. If the session has ended, such as in another tab, the user signs in again. The same holds for an SSO
 * session if the request needs a passkey.
 */
function orSigningIn(signIn: () => Promise<void>) {
  return async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!isSignInRequired(error)) throw error
      await signIn()
      return undefined
    }
  }
}

/** Returns the identity that the user has used last in this app, if they are known to have used it. */
async function lastIdentityIn({ app }: SignInView): Promise<string | undefined> {
  // The mark is a help. Without it, the user still chooses.
  const found = await call('GET /api/oauth/authorizations', {}).catch(() => undefined)
  const here = (found?.authorizations ?? []).filter(({ clientId }) => clientId === app.clientId)
  return here.toSorted((one, other) => other.lastAuthorizedAt.localeCompare(one.lastAuthorizedAt))[0]?.identityId
}

function isVerified(identities: Identity[], identityId: string): boolean {
  return identities.some((each) => each.identityId === identityId && each.emailVerified)
}

async function grantOf(identity: Identity, view: SignInView, authMethod: Session['authMethod']): Promise<Grant> {
  const { app, scope, key, connector: requested, organization } = view
  const { authorization, missingScopes, accessDenied, connector, organizations } = await call(
    'GET /api/oauth/authorization/:clientId',
    {
      params: { clientId: app.clientId },
      querystring: {
        identity_id: identity.identityId,
        scope: grantableScopes(scope, identity).join(' '),
        ...(organization !== undefined && { organization_id: organization }),
        ...(requested && {
          requested_resource: requested.resourceKey,
          requested_scope: scopeTextOf(requested),
          communication_mode: requested.mode,
        }),
      },
    },
  )
  const storedKey = key && authorization ? storedKeyOf(authorization, key.mode) : undefined
  const deniedElsewhere = requested && connector?.accessDenied
  const denied = accessDenied ?? (deniedElsewhere && { ...deniedElsewhere, elsewhere: requested.owner.name })
  const elsewhere = { ...(connector && { connector }), ...(organizations && { organizations }) }
  const lacking = missingClaims(view.requiredClaims ?? [], identity)
  // A session that SSO opened cannot decide about other organizations.
  const canChoose = view.organizationAccess !== undefined && authMethod === 'passkey'
  const chosen = canChoose && { organizationAccess: authorization?.organizationAccess !== 'none' }
  // A consent without scopes counts only for a delegation, which is shown separately.
  const exists = authorization !== null && (authorization.scope !== '' || requested !== undefined)
  return {
    exists,
    missing: missingScopes,
    lacking,
    ...(storedKey && { storedKey }),
    ...chosen,
    ...(denied && { accessDenied: denied }),
    ...elsewhere,
  }
}

/** Returns those of the identities that have connected the app. */
async function connectedAmong(identities: Identity[], view: SignInView, authMethod: Session['authMethod']) {
  const grants = await Promise.all(identities.map((identity) => grantOf(identity, view, authMethod)))
  return identities.filter((_identity, index) => grants[index]?.exists)
}
