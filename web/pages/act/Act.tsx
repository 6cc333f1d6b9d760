import { useEffect, useState } from 'preact/hooks'
import { fetchOwnSession } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readPageData } from '../../lib/page-data.ts'
import { useOpener } from './action.ts'
import { Decide, type SignedInUser } from './Decide.tsx'

/** Lets members sign actions in an organization. Their keys can only be unlocked on the host of their passkeys. */
export function SignActionPage() {
  const { act: words, sign, account } = useMessages()
  const { site } = readPageData('act')
  const doing = useActions()
  const { isThere, request, answer } = useOpener(site.businessUrl)
  const [owner, setOwner] = useState<SignedInUser | 'nobody'>()
  const look: Action = {
    name: 'retry',
    label: account.retry,
    do: async () => setOwner((await fetchOwnSession()) ?? 'nobody'),
  }
  useEffect(() => void doing.perform(look), [])

  const draw = () => {
    if (!isThere) return <Nothing />
    if (owner === undefined && doing.problem !== undefined) return <Actions of={[look]} doing={doing} />
    if (owner === 'nobody')
      return (
        <>
          <StepHeading>{sign.whoAreYou}</StepHeading>
          <Authenticate doing={doing} onSignedIn={setOwner} />
        </>
      )
    if (!owner || !request) return <Spinner />
    const own = owner.identities.find(({ identityId }) => identityId === request.identityId)
    return own ? <Decide request={request} own={own} owner={owner} onSigned={answer} /> : <Nothing />
  }
  return (
    <PageLayout title={words.title}>
      <section class="step">{draw()}</section>
    </PageLayout>
  )
}

function Nothing() {
  const { act: words, sign } = useMessages()
  return (
    <>
      <StepHeading>{sign.unknownTitle}</StepHeading>
      <p>{words.nothingWhy}</p>
    </>
  )
}
