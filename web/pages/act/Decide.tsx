import type { MasterKey } from '@countersign/keys/master-key'
import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { useEffect, useState } from 'preact/hooks'
import { useBusinessMessages } from './words.ts'
import { ApiError, call } from '../../lib/api/call.ts'
import { CeremonyError, reauthenticate } from '../../lib/keys/passkey.ts'
import type { Session } from '../../lib/session/session.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { RecoveryCodeForm } from '../../components/unlock/EnterCode.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { DefinitionList, Spinner } from '../../components/display/Facts.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { SignatureLine } from '../../components/display/Monogram.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import type { SignActionRequest } from './action.ts'
import { type ActionSubject, loadActionSubject } from './subject.ts'
import { type ActionDescription, describeAction } from './describe-action.ts'

export type SignedInUser = Pick<Session, 'user' | 'identities'>

type Props = {
  request: SignActionRequest
  own: SignedInUser['identities'][number]
  owner: SignedInUser
  onSigned: (message: string, signature: string) => void
}

/** Asks for the signature as soon as the action's subject has loaded. */
export function Decide(props: Props) {
  const { account } = useMessages()
  const businessWords = useBusinessMessages()
  const doing = useActions()
  const [subject, setSubject] = useState<ActionSubject>()
  const { request } = props
  const read: Action = {
    name: 'retry',
    label: account.retry,
    do: async () => setSubject(await loadActionSubject(request)),
  }
  useEffect(() => void doing.perform(read), [])
  if (subject) return <Question {...props} description={describeAction(request, subject, businessWords)} />
  return doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />
}

/** Shows the action in words and its exact text, and asks for the signature. */
function Question({
  request: { message },
  own,
  owner,
  onSigned,
  description,
}: Props & { description: ActionDescription }) {
  const { act: words, sign: of } = useMessages()
  const doing = useActions()
  const [readToEnd, setReadToEnd] = useState(false)
  const [shut, setShut] = useState<KeyWrap[]>()
  const { identityId, displayName, handle } = own

  async function signWith(masterKey: MasterKey) {
    onSigned(message, await signatureBy(masterKey, identityId, message).finally(() => masterKey.forget()))
    close()
  }

  /** One assertion both re-authenticates the member, which some actions require, and unlocks the key. */
  async function open() {
    const vault = await import('../../lib/keys/key-vault.ts')
    const used = await reauthenticate(await vault.prfSalt())
    const { keyWraps } = await call('GET /api/account/key-wraps', {})
    const masterKey = await vault.unlockWithPasskey(keyWraps, used, owner.user.userId)
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
      <p class="lead">{description.does}</p>
      <DefinitionList of={description.facts} />
      {description.ends !== undefined && <p>{description.ends}</p>}
      <p>{words.what}</p>
      <ExactText text={message} label={of.text} onEnd={() => setReadToEnd(true)} />
      <SignatureLine name={displayName} below={`@${handle}`} signed={doing.current === 'sign'} />
      {shut ? (
        <RecoveryCodeForm
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
          {doing.problem instanceof CeremonyError && (
            <Actions of={[useCode]} doing={{ ...doing, problem: undefined }} />
          )}
        </>
      )}
    </>
  )
}

async function signatureBy(masterKey: MasterKey, identityId: string, message: string): Promise<string> {
  const { adoptIfUnproved, signText } = await import('../../lib/keys/key-vault.ts')
  const key = await call('GET /api/signing/keys/:identityId', { params: { identityId } })
  if (!key.hasKey) throw new ApiError(422, 'no_signing_key', '')
  await adoptIfUnproved(masterKey, key)
  return signText(masterKey, key, message)
}
