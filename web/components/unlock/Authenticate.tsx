import { isEmail } from '@countersign/protocol/formats/email'
import { useEffect, useState } from 'preact/hooks'
import { ApiError, call } from '../../lib/api/call.ts'
import { signInByAutofill, signInWithPasskey, type PasskeyUse, type SignedIn } from '../../lib/keys/passkey.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { readSiteSettings } from '../../lib/page-data.ts'
import { type KnownUser, rememberUser } from '../../lib/session/known-users.ts'
import { startSso } from '../../lib/session/start-sso.ts'
import { ActionForm } from '../form/Actions.tsx'
import type { Action, ActionState } from '../form/use-actions.ts'
import { Field } from '../form/Field.tsx'
import { useMessages } from '../frame/Root.tsx'
import { Disclosure } from '../ui/Disclosure.tsx'
import { KnownUsers, useKnownUsers } from './KnownUsers.tsx'
import { UnsupportedNote } from './Unsupported.tsx'
import './unlock.css'

type Props = {
  /** The URL to return to after registration or recovery. Without it, this page waits while the user recovers. */
  returnTo?: string
  /** Set if a session that SSO opens can use the page at `returnTo`. It is then offered. */
  acceptsSso?: boolean
  /** Set if the next step needs the keys. The passkey then also evaluates its PRF with this salt. */
  salt?: () => Promise<BufferSource>
  /** The `request_uri` of the authorization request that the assertion is for. */
  requestUri?: string | undefined
  doing: ActionState
  others?: Action[]
  /** `identityId` is the one as which the user chose to continue, if they did. */
  onSignedIn: (signedIn: SignedIn, identityId?: string) => unknown
}

/** Signs the user in: with a passkey from the autofill of the input, or with the browser's dialog. */
export function Authenticate({ returnTo, acceptsSso = false, salt, requestUri, doing, others, onSignedIn }: Props) {
  const { login: words, register } = useMessages()
  const [handle, setHandle] = useState('')
  const [problem, setProblem] = useState<string>()
  const known = useKnownUsers()
  const use = async () => ({ salt: await salt?.(), requestUri })
  const arrive = async (signedIn: SignedIn, identityId?: string) => {
    rememberUser({ ...signedIn.user, credentialId: signedIn.used.credentialId }, signedIn.identities)
    await onSignedIn(signedIn, identityId)
  }
  const offerAgain = useOffer(doing, use, arrive)
  const again = (error: unknown) => {
    offerAgain()
    throw error
  }
  const ssoReturn = acceptsSso ? returnTo : undefined
  const isWork = ssoReturn !== undefined && isEmail(handle.trim())
  const signIn: Action = {
    name: 'sign-in',
    label: isWork ? words.withSso : known.users.length > 0 ? words.anotherPasskey : words.signIn,
    icon: isWork ? 'building' : 'fingerprint-pattern',
    look: known.users.length > 0 && !isWork ? 'secondary' : 'primary',
    do: async () => {
      if (isWork) return setProblem((await startedSso(handle.trim(), ssoReturn)) ? undefined : words.unknownDomain)
      await arrive(await signInWithPasskey(handle, await use()).catch(again))
    },
  }
  const continueAs = async (user: KnownUser) =>
    arrive(await signInWithPasskey(user.handle, { ...(await use()), known: user }).catch(again), user.identityId)
  const write = (text: string) => {
    setHandle(text)
    setProblem(undefined)
  }
  return (
    <>
      <UnsupportedNote />
      {known.users.length > 0 && (
        <>
          <KnownUsers users={known.users} doing={doing} onContinue={continueAs} onForget={known.forget} />
          <p class="divider">{words.or}</p>
        </>
      )}
      <ActionForm submit={signIn} others={others} doing={doing}>
        <Field
          name="handle"
          label={ssoReturn === undefined ? register.handle : words.handle}
          hint={ssoReturn === undefined ? words.handleHint : `${words.handleHint} ${words.workHint}`}
          value={handle}
          onInput={write}
          problem={problem}
          autocomplete="username webauthn"
          takesFocus={known.users.length === 0}
          exact
        />
      </ActionForm>
      <Disclosure summary={words.elsewhere} icon="smartphone">
        <p class="small soft">{words.elsewhereHow}</p>
      </Disclosure>
      <Otherwise returnTo={returnTo} acceptsSso={acceptsSso} />
    </>
  )
}

/**
 * Starts the SSO login of the organization to which the domain of a work address belongs. Returns false if there is
 * none.
 */
async function startedSso(email: string, returnTo: string): Promise<boolean> {
  try {
    const { loginUrl } = await call('POST /api/sso/discover', { body: { email } })
    // Users who have no other destination go to their organization.
    const back = returnTo === '/account' ? undefined : new URL(returnTo, readSiteSettings().authUrl).href
    await startSso(loginUrl, { loginHint: email, returnTo: back })
    return true
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'sso_not_found')) throw error
    return false
  }
}

function Otherwise({ returnTo, acceptsSso }: { returnTo: string | undefined; acceptsSso: boolean }) {
  const words = useMessages().login
  if (returnTo === undefined)
    return (
      <p class="otherwise">
        {words.noPasskey}{' '}
        <a href="/recover" target="_blank" rel="noreferrer">
          {words.recover}
        </a>
      </p>
    )
  return (
    <ul class="otherwise">
      {['open', 'domains'].includes(readSiteSettings().registration) && (
        <li>
          {words.newHere} <a href={withReturnUrl('/register', returnTo)}>{words.register}</a>
        </li>
      )}
      <li>
        {words.noPasskey} <a href={withReturnUrl('/recover', returnTo)}>{words.recover}</a>
      </li>
      {acceptsSso && (
        <li>
          {words.atWork} <a href={withReturnUrl('/sso', returnTo)}>{words.withOrganization}</a>
        </li>
      )}
    </ul>
  )
}

type Use = () => Promise<PasskeyUse>

/** Offers passkeys in the autofill of the input. The returned function repeats the offer after the browser's dialog. */
function useOffer({ perform }: ActionState, use: Use, onSignedIn: Props['onSignedIn']): () => void {
  const [round, setRound] = useState(0)
  useEffect(() => {
    const settle = (outcome: () => unknown) => void perform({ name: 'sign-in', do: outcome })
    const offer = async () => signInByAutofill(await use())
    offer().then(
      (signedIn) => signedIn && settle(() => onSignedIn(signedIn)),
      (error: unknown) => settle(() => Promise.reject(error)),
    )
  }, [round])
  return () => setRound((current) => current + 1)
}
