import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/signature/sign-words.ts'
import { Note } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { Signature } from '../../../components/signature/Signature.tsx'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { readPageData, readSiteSettings } from '../../../lib/page-data.ts'
import { type Event, type OwnSignIn, type Step, type StopReason, mayApproveInstead } from '../steps.ts'
import { parseSigningMessage } from '../answer.ts'
import { startSso } from '../../../lib/session/start-sso.ts'
import type { Owner, useFlow } from '../flow.ts'
import { Progress } from '../TimeLeft.tsx'
import { Signed } from './Signed.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

/** Long enough to see the signature being drawn, and to read the result. */
const closesAfterMilliseconds = 2600

type RequestResultProps = {
  step: Extract<Step, { at: 'end' }>
  owner: Owner | undefined
  doing: ActionState
  framed: boolean
}

/** Shows the result of the request. A window that an app opened closes by itself once the app has the result. */
export function RequestResult({ step: { end, request, isNow = false }, owner, doing, framed }: RequestResultProps) {
  const words = useMessages().sign
  const [isPaused, setIsPaused] = useState(false)
  const closes = opener !== null && end !== 'expired' && !isPaused && doing.current === undefined
  useEffect(() => {
    if (!closes) return
    const timer = setTimeout(() => close(), closesAfterMilliseconds)
    return () => clearTimeout(timer)
  }, [closes])
  if (end === 'signed' && request && owner && !framed)
    return <Signed request={request} owner={owner} doing={doing} isNow={isNow} onHold={setIsPaused} />
  return (
    <section class={`step ended ${end}`}>
      <span class={`glyph ${looks[end].tone}`} aria-hidden="true">
        <Icon name={looks[end].icon} />
      </span>
      <StepHeading>{words.ends[end]}</StepHeading>
      <p class="lead">{words.endsWhat[end]}</p>
      {parent === self && <p class="soft">{words.closeThis}</p>}
    </section>
  )
}

const looks = {
  signed: { tone: 'ok', icon: 'signature' },
  denied: { tone: 'bad', icon: 'x' },
  expired: { tone: 'wait', icon: 'clock' },
} as const

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
      <p>{words.inAWindowWhy(readSiteSettings().brand.name)}</p>
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

/**
 * Shown after a member has signed or approved, while others have not. The member may still deny, or approve instead of
 * signing if another member has signed too.
 */
export function WaitingForApprovals({ flow, step: { request, organization }, doing }: WaitingForApprovalsProps) {
  const { sign: words } = useMessages()
  const role = organization.answered ?? 'sign'
  const { owner } = flow
  const name = owner?.identities.find(({ identityId }) => identityId === request.identityId)?.displayName
  const { denyAfterAll } = words.ofOrganization
  const deny: Action = { name: 'deny', label: denyAfterAll, look: 'danger-quiet', do: flow.deny }
  const approveInstead: Action = {
    ...{ name: 'approve-instead', label: words.ofOrganization.approveInstead, look: 'secondary' },
    do: () => flow.advance({ type: 'approves instead' }),
  }
  const isStuck = mayApproveInstead(organization)
  return (
    <section class="step ended">
      <StepHeading>{words.ofOrganization.done[role]}</StepHeading>
      <p class="lead">{words.ofOrganization.waitsFor(organization.name)}</p>
      <Signature
        name={name ?? request.handle}
        below={<span>{words.ofOrganization.by[role](atHandle(request.handle))}</span>}
        isSigned
      />
      <Progress organization={organization} />
      {isStuck && <Note tone="wait">{words.ofOrganization.approveInsteadWhy}</Note>}
      {parent === self && !isStuck && <p class="soft">{words.closeThis}</p>}
      <Actions of={isStuck ? [approveInstead, deny] : [deny]} doing={doing} />
    </section>
  )
}
