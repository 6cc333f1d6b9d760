import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/keys'
import { useEffect, useState } from 'preact/hooks'
import { call, Refused } from '../call.ts'
import { openKeys } from '../open-keys.ts'
import { CeremonyFailed } from '../passkey.ts'
import { readOwnSession, type Session } from '../session.ts'
import { Actions } from '../ui/Actions.tsx'
import { Authenticate } from '../ui/Authenticate.tsx'
import { useDoing, type Action, type Doing } from '../ui/doing.ts'
import { EnterCode } from '../ui/EnterCode.tsx'
import { ExactText } from '../ui/ExactText.tsx'
import { Frame } from '../ui/Frame.tsx'
import { useWords } from '../ui/Root.tsx'
import { SignatureLine } from '../ui/SignatureLine.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { readView } from '../view.ts'
import type { AskedAct } from './act.ts'
import { useAsker } from './asker.ts'

type Owner = Pick<Session, 'user' | 'identities'>

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
    return own ? <Decide asked={asked} own={own} owner={owner} doing={doing} onSigned={answer} /> : <Nothing />
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

type Props = {
  asked: AskedAct
  own: Owner['identities'][number]
  owner: Owner
  doing: Doing
  onSigned: (message: string, signature: string) => void
}

/** What is to be signed, in words and exactly. */
function Decide({ asked: { action, message }, own, owner, doing, onSigned }: Props) {
  const { act: words, sign: of, activity } = useWords()
  const acts: Partial<Record<string, string>> = activity.acts
  const { site } = readView('act')
  const [readToEnd, setReadToEnd] = useState(false)
  const [shut, setShut] = useState<KeyWrap[]>()
  const { identityId, displayName, handle } = own

  async function signWith(masterKey: MasterKey) {
    const { signText } = await import('../vault.ts')
    const key = await call('GET /api/signing/keys/:identityId', { params: { identityId } })
    if (!key.hasKey) throw new Refused(422, 'no_signing_key', '')
    onSigned(message, await signText(masterKey, key, message).finally(() => masterKey.forget()))
    close()
  }

  async function open() {
    const { masterKey, keyWraps } = await openKeys(owner.user.userId, site.relyingPartyId)
    if (!masterKey) return setShut(keyWraps)
    await signWith(masterKey)
  }

  const sign: Action = { name: 'sign', label: of.sign, asleep: !readToEnd, do: open }
  const deny: Action = { name: 'deny', label: of.deny, look: 'secondary', do: () => close() }
  const useCode: Action = {
    name: 'use-code',
    label: of.useCode,
    look: 'quiet',
    do: async () => setShut((await call('GET /api/account/key-wraps', {})).keyWraps),
  }
  return (
    <>
      <StepHeading>{words.title}</StepHeading>
      <p class="lead">{acts[action] ?? action}</p>
      <p>{words.what}</p>
      <ExactText text={message} label={of.text} onEnd={() => setReadToEnd(true)} />
      <SignatureLine name={displayName} below={`@${handle}`} signed={doing.current === 'sign'} />
      {shut ? (
        <EnterCode
          keyWraps={shut}
          userId={owner.user.userId}
          doing={doing}
          why={of.codeWhy}
          label={of.sign}
          onOpened={signWith}
          onCancel={() => setShut(undefined)}
        />
      ) : (
        <>
          {!readToEnd && <p role="status">{of.readOn}</p>}
          <Actions of={[sign, deny]} doing={doing} areAnswers />
          {doing.problem instanceof CeremonyFailed && (
            <Actions of={[useCode]} doing={{ ...doing, problem: undefined }} />
          )}
        </>
      )}
    </>
  )
}
