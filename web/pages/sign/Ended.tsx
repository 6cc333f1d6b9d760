import { useEffect, useState } from 'preact/hooks'
import { downloadReceipt } from '../../lib/download.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { useMessages } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { readPageData } from '../../lib/page-data.ts'
import type { Event, OwnSignIn, RequestEnd, Step, StopReason } from './steps.ts'
import { parseSigningMessage } from './answer.ts'
import { startSso } from '../../lib/session/start-sso.ts'
import type { useFlow } from './flow.ts'
import { Progress } from './TimeLeft.tsx'

/** Long enough to read the result. */
const closesAfterMilliseconds = 1500

type RequestResultProps = { end: RequestEnd; signedIn: boolean; doing: ActionState }

/** Shows the result of the request. A window that an app opened closes by itself once the app has the result. */
export function RequestResult({ end, signedIn, doing }: RequestResultProps) {
  const words = useMessages().sign
  const [isPaused, setIsPaused] = useState(false)
  const closes = opener !== null && end !== 'expired' && !isPaused && doing.current === undefined
  useEffect(() => {
    if (!closes) return
    const timer = setTimeout(() => close(), closesAfterMilliseconds)
    return () => clearTimeout(timer)
  }, [closes])
  return (
    <section class={`step ended ${end}`}>
      <StepHeading>{words.ends[end]}</StepHeading>
      <p>{words.endsWhat[end]}</p>
      {parent === self && <p class="lead">{words.closeThis}</p>}
      {end === 'signed' && signedIn && <Receipt doing={doing} onHold={setIsPaused} />}
    </section>
  )
}

/** Downloads the receipt. The window stays open while the user points at the button. */
function Receipt({ doing, onHold }: { doing: ActionState; onHold: (isPaused: boolean) => void }) {
  const words = useMessages().sign
  const { requestId } = readPageData('sign')
  const save: Action = {
    name: 'save-receipt',
    label: words.saveReceipt,
    look: 'quiet',
    async do() {
      await downloadReceipt(requestId)
      onHold(false)
    },
  }
  return (
    <div
      onPointerMove={() => onHold(true)}
      onPointerLeave={() => onHold(false)}
      onFocusIn={() => onHold(true)}
      onFocusOut={() => onHold(false)}
    >
      <Actions of={[save]} doing={doing} />
    </div>
  )
}

/** Passes the result from the window that this frame has opened to the page around the frame. */
export function useAnswerOfWindow(framed: boolean, onAnswered: (event: Event) => void): void {
  const { requestId, framedBy } = readPageData('sign')
  useEffect(() => {
    if (!framed) return
    const take = ({ origin, data }: MessageEvent) => {
      const answer = origin === location.origin ? parseSigningMessage(data, requestId) : undefined
      if (answer) onAnswered({ type: 'answered in a window', answer, origins: framedBy })
    }
    addEventListener('message', take)
    return () => removeEventListener('message', take)
  }, [framed])
}

/** Shown in a frame that has no session: the request opens in a window of its own. */
export function OpenInPopup({ doing }: { doing: ActionState }) {
  const words = useMessages().sign
  const { requestId } = readPageData('sign')
  return (
    <section class="step">
      <h1>{words.title}</h1>
      <p>{words.inAWindowWhy}</p>
      <Actions of={[{ name: 'open-window', label: words.inAWindow, do: () => openPopup(requestId) }]} doing={doing} />
    </section>
  )
}

/** Shown if nothing was signed, because the page cannot vouch for what it shows. */
export function Stopped({ why, doing }: { why: StopReason; doing: ActionState }) {
  const words = useMessages().sign
  const reload: Action = { name: 'reload', label: words.reload, do: () => location.reload() }
  return (
    <section class="step ended">
      <StepHeading>{words.stopped}</StepHeading>
      <p>{words.stoppedWhy[why]}</p>
      <Actions of={[reload]} doing={doing} />
    </section>
  )
}

/** Opens the page in a window, where no other page can cover it. */
export function openPopup(requestId: string): void {
  open(`/sign?requestId=${encodeURIComponent(requestId)}`, `sign-${requestId}`, 'popup,width=520,height=780')
}

/** Shown if the organization requires SSO. After the login, the member returns to this request. */
export function OrganizationSsoPrompt({ place, doing }: { place: OwnSignIn; doing: ActionState }) {
  const { signin: words } = useMessages()
  const { organizationName: name, loginUrl } = place
  const leave = () => startSso(loginUrl, { returnTo: location.href })
  return (
    <section class="step">
      <StepHeading>{words.requiresSso(name)}</StepHeading>
      <Actions of={[{ name: 'sign-in-there', label: words.continueWith(name), do: leave }]} doing={doing} />
    </section>
  )
}

type WaitingForApprovalsProps = {
  flow: ReturnType<typeof useFlow>
  step: Extract<Step, { at: 'wait' }>
  doing: ActionState
}

/** Shown after a member has signed or approved, while others have not. The member may still deny. */
export function WaitingForApprovals({ flow, step: { organization }, doing }: WaitingForApprovalsProps) {
  const { sign: words } = useMessages()
  return (
    <section class="step ended">
      <StepHeading>{words.ofOrganization.done[organization.answered ?? 'sign']}</StepHeading>
      <p>{words.ofOrganization.waitsFor(organization.name)}</p>
      <Progress organization={organization} />
      {parent === self && <p class="lead">{words.closeThis}</p>}
      <Actions
        of={[{ name: 'deny', label: words.ofOrganization.denyAfterAll, look: 'quiet', do: flow.deny }]}
        doing={doing}
      />
    </section>
  )
}
