import { reauthenticate } from '../../lib/keys/passkey.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { useMessages } from '../../components/frame/Root.tsx'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useEffect, useState } from 'preact/hooks'
import { acceptsSsoAt, requiresOtherAccount, requiresReauthentication, returnUrl } from '../../lib/navigation.ts'
import { readSession } from '../../lib/session/session.ts'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { ContextLine } from '../../components/unlock/RequestingApp.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData, readSiteSettings } from '../../lib/page-data.ts'

/** Re-authenticates users for pages of another host, where the passkeys of this host cannot be used. */
function Reauthenticate({ onProved, onCanceled }: { onProved: () => void; onCanceled: () => void }) {
  const { login: words, frame } = useMessages()
  const doing = useActions()
  const prove: Action = {
    name: 'prove',
    label: words.prove,
    icon: 'fingerprint-pattern',
    do: async () => {
      await reauthenticate()
      onProved()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onCanceled }
  return (
    <>
      <div class="stack tight">
        <StepHeading>{words.proveTitle}</StepHeading>
        <p class="lead">{words.proveLead}</p>
      </div>
      <Actions of={[prove, cancel]} doing={doing} />
    </>
  )
}

export function Login() {
  const words = useMessages().login
  const doing = useActions()
  const { app, invitation } = readPageData('login')
  const [present, setPresent] = useState<'signed out' | 'signed in'>()
  const returnTo = returnUrl(location.search, readSiteSettings())
  const leave = () => location.replace(returnTo)
  // The fragment names the dialog that opens after the confirmation.
  const cancel = () => location.replace(returnTo.replace(/#.*/, ''))
  const proves = requiresReauthentication(location.search)
  useEffect(() => {
    if (requiresOtherAccount(location.search)) return setPresent('signed out')
    // Signed-in users are redirected. If the server is unreachable, the next action reports the error.
    readSession().then(
      (session) => {
        // The account page says what the passkey of a recovery opens, and what opens the rest.
        if (session?.authMethod === 'recovered_passkey') return location.replace('/account')
        const isOwn = session?.authMethod === 'passkey'
        return isOwn && !proves ? leave() : setPresent(isOwn ? 'signed in' : 'signed out')
      },
      () => setPresent('signed out'),
    )
  }, [])
  return (
    <PageLayout title={words.title} step={present ?? 'look'} where>
      <ContextLine app={app} invitation={invitation} />
      {present === 'signed in' ? <Reauthenticate onProved={leave} onCanceled={cancel} /> : <h1>{words.title}</h1>}
      {present === undefined && <Spinner />}
      {present === 'signed out' && (
        <Authenticate
          returnTo={returnTo}
          acceptsSso={!proves && acceptsSsoAt(returnTo, readSiteSettings())}
          doing={doing}
          onSignedIn={leave}
        />
      )}
    </PageLayout>
  )
}
