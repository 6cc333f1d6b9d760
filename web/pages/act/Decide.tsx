import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useEffect, useState } from 'preact/hooks'
import { useBusinessWords } from '../business/words.ts'
import { call, Refused } from '../../lib/call.ts'
import { CeremonyFailed, reauthenticate } from '../../lib/passkey.ts'
import type { Session } from '../../lib/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../components/form/doing.ts'
import { EnterCode } from '../../components/unlock/EnterCode.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { Facts } from '../../components/display/Facts.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { SignatureLine } from '../../components/display/SignatureLine.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import type { AskedAct } from './act.ts'
import { readConcern, type Concern } from './subject.ts'
import { tellAct, type Told } from './describe-action.ts'

export type Owner = Pick<Session, 'user' | 'identities'>

type Props = {
  asked: AskedAct
  own: Owner['identities'][number]
  owner: Owner
  onSigned: (message: string, signature: string) => void
}

/** What is to be signed, once it is known whom and what it concerns. */
export function Decide(props: Props) {
  const { account } = useWords()
  const businessWords = useBusinessWords()
  const doing = useDoing()
  const [concern, setConcern] = useState<Concern>()
  const { asked } = props
  const read: Action = {
    name: 'retry',
    label: account.retry,
    do: async () => setConcern(await readConcern(asked)),
  }
  useEffect(() => void doing.perform(read), [])
  if (concern) return <Question {...props} told={tellAct(asked, concern, businessWords)} />
  return doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />
}

/** Whether to sign it: in words and exactly. */
function Question({ asked: { message }, own, owner, onSigned, told }: Props & { told: Told }) {
  const { act: words, sign: of } = useWords()
  const doing = useDoing()
  const [readToEnd, setReadToEnd] = useState(false)
  const [shut, setShut] = useState<KeyWrap[]>()
  const { identityId, displayName, handle } = own

  async function signWith(masterKey: MasterKey) {
    const { signText } = await import('../../lib/vault.ts')
    const key = await call('GET /api/signing/keys/:identityId', { params: { identityId } })
    if (!key.hasKey) throw new Refused(422, 'no_signing_key', '')
    onSigned(message, await signText(masterKey, key, message).finally(() => masterKey.forget()))
    close()
  }

  /** One touch both proves who acts, as some acts want it, and opens the key. */
  async function open() {
    const vault = await import('../../lib/vault.ts')
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.openWithPasskey(keyWraps, used, owner.user.userId)
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
      <p class="lead">{told.does}</p>
      <Facts of={told.facts} />
      {told.ends !== undefined && <p>{told.ends}</p>}
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
