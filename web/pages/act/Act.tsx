import { useEffect, useState } from 'preact/hooks'
import { readOwnSession } from '../../lib/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readView } from '../../lib/view.ts'
import { useAsker } from './asker.ts'
import { Decide, type Owner } from './Decide.tsx'

/** Where a member signs what they do in an organization: their key opens on the host of their passkeys alone. */
export function Act() {
  const { act: words, sign, account } = useWords()
  const { site } = readView('act')
  const doing = useDoing()
  const { isThere, asked, answer } = useAsker(site.businessUrl)
  const [owner, setOwner] = useState<Owner | 'nobody'>()
  const look: Action = {
    name: 'retry',
    label: account.retry,
    do: async () => setOwner((await readOwnSession()) ?? 'nobody'),
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
    if (!owner || !asked) return <Waiting />
    const own = owner.identities.find(({ identityId }) => identityId === asked.identityId)
    return own ? <Decide asked={asked} own={own} owner={owner} onSigned={answer} /> : <Nothing />
  }
  return (
    <Frame title={words.title}>
      <section class="step">{draw()}</section>
    </Frame>
  )
}

function Nothing() {
  const { act: words, sign } = useWords()
  return (
    <>
      <StepHeading>{sign.unknownTitle}</StepHeading>
      <p>{words.nothingWhy}</p>
    </>
  )
}
