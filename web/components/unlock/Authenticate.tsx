import { useEffect, useState } from 'preact/hooks'
import { signInByAutofill, signInWithPasskey, type PasskeyUse, type SignedIn } from '../../lib/keys/passkey.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import { ActionForm } from '../form/Actions.tsx'
import type { Action, ActionState } from '../form/use-actions.ts'
import { Field } from '../form/Field.tsx'
import { useMessages } from '../frame/Root.tsx'

type Props = {
  /** The URL to return to after registration or recovery. Without it, this page waits while the user recovers. */
  returnTo?: string
  /** Set if the next step needs the keys. The passkey then also evaluates its PRF with this salt. */
  salt?: () => Promise<BufferSource>
  /** The `request_uri` of the authorization request that the assertion is for. */
  requestUri?: string | undefined
  doing: ActionState
  others?: Action[]
  onSignedIn: (signedIn: SignedIn) => unknown
}

/** Signs the user in: with a passkey from the autofill of the input, or with the browser's dialog. */
export function Authenticate({ returnTo, salt, requestUri, doing, others, onSignedIn }: Props) {
  const words = useMessages().login
  const [handle, setHandle] = useState('')
  const use = async () => ({ salt: await salt?.(), requestUri })
  const offerAgain = useOffer(doing, use, onSignedIn)
  const signIn: Action = {
    name: 'sign-in',
    label: words.signIn,
    do: async () => {
      const signedIn = await signInWithPasskey(handle, await use()).catch((error: unknown) => {
        offerAgain()
        throw error
      })
      await onSignedIn(signedIn)
    },
  }
  return (
    <>
      <ActionForm submit={signIn} others={others} doing={doing}>
        <Field
          name="handle"
          label={words.handle}
          hint={words.handleHint}
          value={handle}
          onInput={setHandle}
          autocomplete="username webauthn"
          exact
        />
      </ActionForm>
      <Otherwise returnTo={returnTo} />
    </>
  )
}

function Otherwise({ returnTo }: { returnTo: string | undefined }) {
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
    <p class="otherwise">
      {words.newHere} <a href={withReturnUrl('/register', returnTo)}>{words.register}</a>
      <br />
      {words.noPasskey} <a href={withReturnUrl('/recover', returnTo)}>{words.recover}</a>
      {!returnTo.startsWith('/sso/') && (
        <>
          <br />
          {words.atWork} <a href={withReturnUrl('/sso', returnTo)}>{words.withOrganization}</a>
        </>
      )}
    </p>
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
