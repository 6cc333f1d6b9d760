import { useEffect, useState } from 'preact/hooks'
import { signInByAutofill, signInWithPasskey, type PasskeyUse, type SignedIn } from '../../lib/passkey.ts'
import { addressWithReturn } from '../../lib/return-address.ts'
import { ActionForm } from '../form/Actions.tsx'
import type { Action, Doing } from '../form/doing.ts'
import { Field } from '../form/Field.tsx'
import { useWords } from '../frame/Root.tsx'

type Props = {
  /** Where those come back to who register or recover first. Without it this page waits for them to recover. */
  returnTo?: string
  /** Given where the keys are needed next: the passkey is then asked for what opens them too. */
  salt?: () => Promise<BufferSource>
  /** The authorization request that the passkey is used for, by its reference. */
  requestUri?: string | undefined
  doing: Doing
  others?: Action[]
  onSignedIn: (signedIn: SignedIn) => unknown
}

/** Signing in: by a passkey that the input offers, or by the button and the browser's own dialog. */
export function Authenticate({ returnTo, salt, requestUri, doing, others, onSignedIn }: Props) {
  const words = useWords().login
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
  const words = useWords().login
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
      {words.newHere} <a href={addressWithReturn('/register', returnTo)}>{words.register}</a>
      <br />
      {words.noPasskey} <a href={addressWithReturn('/recover', returnTo)}>{words.recover}</a>
      {!returnTo.startsWith('/sso/') && (
        <>
          <br />
          {words.atWork} <a href={addressWithReturn('/sso', returnTo)}>{words.withOrganization}</a>
        </>
      )}
    </p>
  )
}

/** Keeps passkeys on offer in the input; the answer makes the offer anew, after the browser's dialog took its place. */
type Use = () => Promise<PasskeyUse>

function useOffer({ perform }: Doing, use: Use, onSignedIn: Props['onSignedIn']): () => void {
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
