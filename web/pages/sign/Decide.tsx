import { isReservedPayload } from '@countersign/protocol/formats/messages/reserved-payload'
import { useState } from 'preact/hooks'
import { useShortFingerprint } from '../../components/display/fingerprint.ts'
import { CeremonyError } from '../../lib/keys/passkey.ts'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { RecoveryCodeForm } from '../../components/unlock/EnterCode.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Note } from '../../components/ui/Chip.tsx'
import { Disclosure } from '../../components/ui/Disclosure.tsx'
import { Signature } from '../../components/signature/Signature.tsx'
import { useMessages } from '../../components/signature/sign-words.ts'
import { readPageData, readSiteSettings } from '../../lib/page-data.ts'
import type { useFlow } from './flow.ts'
import { openPopup } from './ended/Ended.tsx'
import { isUnreadablePayload } from './readable.ts'
import { Progress, TimeLeft } from './TimeLeft.tsx'
import { type Step, roleOf } from './steps.ts'
import { atHandle } from '../../lib/text/handle.ts'

type Deciding = Extract<Step, { at: 'decide' | 'enter code' }>
type Props = { flow: ReturnType<typeof useFlow>; step: Deciding; doing: ActionState; framed: boolean }

/** Shows what to sign, which app requests it and as which identity, and asks for the decision. */
export function Decide({ flow, step, doing, framed }: Props) {
  const words = useMessages().sign
  const { request } = step
  const { app, handle, identityId, payload, expiresAt, organization } = request
  const [readToEnd, setReadToEnd] = useState(false)
  const name = flow.owner?.identities.find((each) => each.identityId === identityId)?.displayName ?? handle
  // A decision that is being sent may have been in time. The server decides that.
  const fingerprint = useShortFingerprint(request.publicKey)
  const by = fingerprint === undefined ? atHandle(handle) : words.key(atHandle(handle), fingerprint)
  const onEnd = () => doing.current === undefined && flow.advance({ type: 'time is up' })
  const isReadable = !isUnreadablePayload(payload) || (step.at === 'decide' && step.insisted)
  const mayBeSigned = step.at === 'decide' && !framed && !isReservedPayload(payload) && isReadable
  return (
    <section class="step">
      <div class="app-head">
        <Avatar kind="app" name={app.name} picture={app.iconUrl} toneOf={app.clientId} size="lg" />
        <div>
          <p class="soft small">{organization ? words.ofOrganization.asks(organization.name) : words.asks}</p>
          <StepHeading>{app.name}</StepHeading>
          <p class="place">{app.origins.map(redirectTargetLabel).join(' · ')}</p>
        </div>
      </div>
      {request.demonstration && <Note>{words.demonstration}</Note>}
      {!request.connected && !request.demonstration && (
        <Note tone="wait">{organization ? words.ofOrganization.notConnected : words.notConnected}</Note>
      )}
      <div class="stack tight">
        <div class="row apart">
          <h2>{words.exactly}</h2>
          <span class="small soft num">{words.lines(payload.split(/\r\n|[\r\n]/).length)}</span>
        </div>
        <ExactText text={payload} label={words.text} onEnd={() => setReadToEnd(true)} checked={words.checked} />
      </div>
      {organization && <Progress organization={organization} />}
      <div role="status">{step.at === 'decide' && step.news && <Note tone="wait">{words.news[step.news]}</Note>}</div>
      {step.at === 'decide' && <AnswersNote step={step} framed={framed} />}
      <div class="sticky-sign">
        <Signature
          name={organization?.name ?? name}
          below={
            <>
              <span>{organization ? words.ofOrganization.by[roleOf(request)](by) : by}</span>
              {mayBeSigned && <span role="status">{readToEnd ? words.byPasskey : words.readOn}</span>}
            </>
          }
          isSigned={['sign', 'approve', 'unlock'].includes(doing.current ?? '')}
          aside={<TimeLeft expiresAt={expiresAt} onEnd={onEnd} />}
        />
        {step.at === 'decide' && <Answers flow={flow} step={step} doing={doing} framed={framed} awake={readToEnd} />}
      </div>
      {step.at === 'enter code' && <ByCode flow={flow} step={step} doing={doing} />}
      {step.at === 'decide' && (
        <Disclosure summary={words.about} icon="info">
          <p class="small soft">{words.aboutWhat(app.name)}</p>
        </Disclosure>
      )}
    </section>
  )
}

type NoteProps = { step: Extract<Step, { at: 'decide' }> } & Pick<Props, 'framed'>

/** Says why the text cannot be signed here, or not yet. It is not in the bar of the answers, which would cover more. */
function AnswersNote({ step: { request, insisted }, framed }: NoteProps) {
  const words = useMessages().sign
  const brand = readSiteSettings().brand.name
  if (isReservedPayload(request.payload)) return <Note tone="bad">{words.reserved(brand)}</Note>
  if (framed) return <p class="hint">{words.inAWindowWhy(brand)}</p>
  if (isUnreadablePayload(request.payload) && !insisted) return <Note tone="wait">{words.unreadable}</Note>
  return null
}

type AnswersProps = { step: Extract<Step, { at: 'decide' }>; awake: boolean } & Pick<Props, 'flow' | 'doing' | 'framed'>

function Answers({ flow, step, doing, framed, awake }: AnswersProps) {
  const words = useMessages()
  const { requestId } = readPageData('sign')
  const deny: Action = { name: 'deny', label: words.sign.deny, look: 'secondary', do: flow.deny }
  if (isReservedPayload(step.request.payload)) return <Actions of={[deny]} doing={doing} />
  if (framed) {
    const window: Action = { name: 'open-window', label: words.sign.inAWindow, do: () => openPopup(requestId) }
    return <Actions of={[window, deny]} doing={doing} areAnswers />
  }
  if (isUnreadablePayload(step.request.payload) && !step.insisted) {
    const insist = () => flow.advance({ type: 'insisted' })
    return (
      <Actions of={[deny, { name: 'insist', label: words.sign.insist, look: 'quiet', do: insist }]} doing={doing} />
    )
  }
  const role = roleOf(step.request)
  const label = role === 'sign' ? words.sign.sign : words.sign.ofOrganization.approve
  const sign: Action = { name: role, label, icon: 'signature', asleep: !awake, do: flow.sign }
  const code: Action = { name: 'use-code', label: words.devices.otherWay, look: 'quiet', do: flow.useCode }
  const others = doing.problem instanceof CeremonyError ? [code] : []
  return (
    <>
      <Actions of={[sign, deny]} doing={doing} areAnswers />
      {others.length > 0 && <Actions of={others} doing={{ ...doing, problem: undefined }} />}
    </>
  )
}

function ByCode({ flow, step, doing }: { step: Extract<Step, { at: 'enter code' }> } & Pick<Props, 'flow' | 'doing'>) {
  const { sign: words } = useMessages()
  return flow.owner === undefined ? null : (
    <RecoveryCodeForm
      keyWraps={step.keyWraps}
      userId={flow.owner.user.userId}
      doing={doing}
      why={words.codeWhy}
      label={words.sign}
      onOpened={flow.signWith}
      onCancel={() => flow.advance({ type: 'turned back' })}
    />
  )
}
