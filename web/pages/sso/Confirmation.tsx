import type { PendingSsoLogin } from '@countersign/protocol/organizations/sso'
import { useEffect, useState } from 'preact/hooks'
import { call, ApiError } from '../../lib/api/call.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions, type Action } from '../../components/form/use-actions.ts'
import { usePageWords } from './words.ts'
import { PageLayout } from '../../components/frame/Frame.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Note } from '../../components/ui/Chip.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { arrivalOfPage, unlessOver } from './arrival.ts'
import { Over } from './Over.tsx'

type State = { at: 'look' } | { at: 'over' } | { at: 'ask'; arrival: PendingSsoLogin; signIn: SignIn }
type SignIn = NonNullable<PendingSsoLogin['signIn']>

/** Asks for confirmation of a login that another site started, or that replaces the session of another user. */
export function Confirmation() {
  const words = usePageWords()
  const { frame } = useMessages()
  const doing = useActions()
  const [state, setState] = useState<State>({ at: 'look' })
  const flowId = arrivalOfPage()

  async function look() {
    const arrival = await unlessOver(call('GET /api/sso/arrivals/:flowId', { params: { flowId } }))
    setState(arrival?.signIn ? { at: 'ask', arrival, signIn: arrival.signIn } : { at: 'over' })
  }
  /** Confirms the login. If it would replace another user's session than the page shows, the user confirms again. */
  async function confirm({ identity, replaces }: SignIn) {
    const body = { handle: identity.handle, ...(replaces && { replaces: replaces.handle }) }
    const confirming = call('POST /api/sso/arrivals/:flowId/confirm', { params: { flowId }, body })
    const confirmed = await unlessOver(confirming).catch(async (error: unknown) => {
      if (error instanceof ApiError && error.code === 'sso_confirmation_outdated') await look()
      throw error
    })
    if (confirmed) return location.replace(confirmed.returnTo)
    setState({ at: 'over' })
  }
  useEffect(() => void doing.perform({ name: 'look', do: look }), [])

  return (
    <PageLayout title={words.confirmTitle} step={state.at} where>
      <section class="stack loose">
        {state.at === 'over' && <Over />}
        {state.at === 'ask' && <Question {...state} doing={doing} onConfirm={() => confirm(state.signIn)} />}
        {state.at === 'look' && doing.problem === undefined && <Spinner />}
        {state.at === 'look' && doing.problem !== undefined && (
          <Actions of={[{ name: 'retry', label: frame.retry, do: look }]} doing={doing} />
        )}
      </section>
    </PageLayout>
  )
}

type QuestionProps = {
  arrival: PendingSsoLogin
  signIn: SignIn
  doing: ReturnType<typeof useActions>
  onConfirm: () => Promise<void>
}

function Question({ arrival: { organization }, signIn: { identity, replaces }, doing, onConfirm }: QuestionProps) {
  const words = usePageWords()
  const confirm: Action = { name: 'confirm-sign-in', label: words.continueAs(identity.displayName), do: onConfirm }
  const stay: Action = {
    name: 'cancel',
    label: replaces ? words.stayAs(replaces.displayName) : words.cancel,
    look: 'secondary',
    do: () => location.replace(replaces ? '/account' : '/'),
  }
  return (
    <>
      <header class="app-head">
        <Avatar name={organization.name} kind="organization" toneOf={organization.id} size="lg" />
        <h1>{words.confirmAs(identity.displayName, organization.name)}</h1>
      </header>
      {replaces ? (
        <>
          <p class="lead">{words.signedInAs(replaces.displayName, replaces.handle)}</p>
          <Note tone="wait">{words.signsOut(identity.handle, replaces.displayName)}</Note>
        </>
      ) : (
        <>
          <p class="lead">{words.startedElsewhere}</p>
          <Note tone="wait">{words.signsIn(identity.handle)}</Note>
        </>
      )}
      <Actions of={[confirm, stay]} doing={doing} />
    </>
  )
}
