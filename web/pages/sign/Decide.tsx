import { isReservedPayload } from '@countersign/protocol/formats/messages/reserved-payload'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CeremonyError } from '../../lib/keys/passkey.ts'
import { redirectTargetLabel } from '../../lib/navigation.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { RecoveryCodeForm } from '../../components/unlock/EnterCode.tsx'
import { ExactText } from '../../components/display/ExactText.tsx'
import { Monogram, SignatureLine } from '../../components/display/Monogram.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { readPageData } from '../../lib/page-data.ts'
import type { useFlow } from './flow.ts'
import { openPopup } from './Ended.tsx'
import { isUnreadablePayload, supportsVisibilityTracking, useVisibility } from './readable.ts'
import { Progress, TimeLeft } from './TimeLeft.tsx'
import { type Step, roleOf } from './steps.ts'

type Deciding = Extract<Step, { at: 'decide' | 'enter code' }>
type Props = { flow: ReturnType<typeof useFlow>; step: Deciding; doing: ActionState; framed: boolean }

/** Shows what to sign, which app requests it and as which identity, and asks for the decision. */
export function Decide({ flow, step, doing, framed }: Props) {
  const words = useMessages().sign
  const { request } = step
  const { app, handle, identityId, payload, expiresAt, organization } = request
  const [readToEnd, setReadToEnd] = useState(false)
  const sheet = useRef<HTMLElement>(null)
  const uncovered = useVisibility(sheet, framed)
  const name = flow.owner?.identities.find((each) => each.identityId === identityId)?.displayName ?? handle
  // A decision that is being sent may have been in time. The server decides that.
  const onEnd = () => doing.current === undefined && flow.advance({ type: 'time is up' })
  return (
    <section class="step" ref={sheet}>
      <header class="app-heading">
        <Monogram name={app.name} />
        <h1>
          <small>{organization ? words.ofOrganization.asks(organization.name) : words.asks}</small> {app.name}
        </h1>
        <p class="place">{app.origins.map(redirectTargetLabel).join(' · ')}</p>
      </header>
      {request.demonstration && <p class="note">{words.demonstration}</p>}
      {!request.connected && !request.demonstration && (
        <p class="note warning">{organization ? words.ofOrganization.notConnected : words.notConnected}</p>
      )}
      <ExactText text={payload} label={words.text} onEnd={() => setReadToEnd(true)} />
      <SignatureLine
        name={organization?.name ?? name}
        below={organization ? words.ofOrganization.by[roleOf(request)](`@${handle}`) : `@${handle}`}
        signed={['sign', 'approve', 'unlock'].includes(doing.current ?? '')}
        aside={<TimeLeft expiresAt={expiresAt} onEnd={onEnd} />}
      />
      {organization && <Progress organization={organization} />}
      {step.at === 'decide' ? (
        <Answers flow={flow} step={step} doing={doing} framed={framed} awake={readToEnd && uncovered} />
      ) : (
        <ByCode flow={flow} step={step} doing={doing} />
      )}
    </section>
  )
}

type AnswersProps = { step: Extract<Step, { at: 'decide' }>; awake: boolean } & Pick<Props, 'flow' | 'doing' | 'framed'>

function Answers({ flow, step, doing, framed, awake }: AnswersProps) {
  const words = useMessages()
  const { requestId } = readPageData('sign')
  const deny: Action = { name: 'deny', label: words.sign.deny, look: 'secondary', do: flow.deny }
  const window: Action[] = framed
    ? [{ name: 'open-window', label: words.sign.inAWindow, look: 'quiet', do: () => openPopup(requestId) }]
    : []
  if (isReservedPayload(step.request.payload))
    return (
      <>
        <p class="note warning">{words.sign.reserved}</p>
        <Actions of={[deny]} doing={doing} />
      </>
    )
  if (isUnreadablePayload(step.request.payload) && !step.insisted) {
    const insist = () => flow.advance({ type: 'insisted' })
    return (
      <>
        <p class="note warning">{words.sign.unreadable}</p>
        <Actions of={[deny, { name: 'insist', label: words.sign.insist, look: 'quiet', do: insist }]} doing={doing} />
      </>
    )
  }
  if (framed && !supportsVisibilityTracking()) return <Actions of={[...window, deny]} doing={doing} />
  const role = roleOf(step.request)
  const label = role === 'sign' ? words.sign.sign : words.sign.ofOrganization.approve
  const sign: Action = { name: role, label, asleep: !awake, do: flow.sign }
  const code: Action = { name: 'use-code', label: words.sign.useCode, look: 'quiet', do: flow.useCode }
  const others = [...(doing.problem instanceof CeremonyError ? [code] : []), ...window]
  return (
    <>
      <Missing awake={awake} what={framed ? words.sign.seeAll : words.sign.readOn} />
      <Actions of={[sign, deny]} doing={doing} areAnswers />
      {others.length > 0 && <Actions of={others} doing={{ ...doing, problem: undefined }} />}
    </>
  )
}

/** Says what is missing before the button is enabled. Its room stays reserved, because buttons must not move. */
function Missing({ awake, what }: { awake: boolean; what: string }) {
  const wasSaid = useRef(false)
  useEffect(() => {
    if (!awake) wasSaid.current = true
  })
  if (awake && !wasSaid.current) return null
  return (
    <p class={awake ? 'hint over' : 'hint'} role="status">
      {what}
    </p>
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
