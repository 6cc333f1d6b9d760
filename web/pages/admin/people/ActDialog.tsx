import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { useState } from 'preact/hooks'
import { RadioGroup, Select } from '../../../components/form/Choice.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { DeleteIdentity, RestoreIdentity } from './DeleteIdentity.tsx'
import { InviteAgain } from './invited/InviteAgain.tsx'
import { isSuspendedByDirectory, suspensionByOperators } from './suspended/source.ts'
import { SuspensionFacts } from './suspended/SuspensionFacts.tsx'
import { usePeopleMessages } from './words.ts'

export type Act = 'suspend' | 'activate' | 'sign-out' | 'delete' | 'restore' | 'invite'

/** A sentence about what was done. It may depend on the identity after it, or on nothing if that cannot be read. */
export type Said = string | ((changed: AdminIdentityDetails | undefined) => string)

type Props = {
  identity: AdminIdentityDetails
  /** Called if another operator or the user has changed the identity meanwhile. */
  onStale: () => Promise<unknown>
  /** Called when it is done, with a sentence that says so. */
  onDone: (said: Said) => Promise<void>
  onClose: () => void
}

/** Asks for what an act on an identity needs, and does it. */
export function ActDialog({ act, ...props }: Props & { act: Act }) {
  if (act === 'suspend') return <Suspend {...props} />
  if (act === 'delete') return <DeleteIdentity {...props} />
  if (act === 'restore') return <RestoreIdentity {...props} />
  if (act === 'invite') return <InviteAgain {...props} />
  return act === 'activate' ? <Activate {...props} /> : <SignOut {...props} />
}

const scopes = ['account', 'identity'] as const
type Scope = (typeof scopes)[number]

const daysOf = { none: undefined, day: 1, week: 7, month: 30 } as const
type Term = keyof typeof daysOf
const terms = ['none', 'day', 'week', 'month'] as const satisfies Term[]

function Suspend({ identity, onStale, onDone, onClose }: Props) {
  const words = usePeopleMessages()
  const { ask } = useOperator()
  const { identityId, handle, displayName, version } = identity
  const present = suspensionByOperators(identity)
  const [reason, setReason] = useState('')
  const [scope, setScope] = useState<Scope>('account')
  const [term, setTerm] = useState<Term>('none')
  const [isChecked, setChecked] = useState(false)
  const isValid = isDisplayName(reason.trim(), pageLimits.suspensionReasonCharactersMax)
  const until = endOf(term)
  const act = {
    name: 'suspend',
    label: words.suspend.now,
    look: 'danger',
    do: async () => {
      setChecked(true)
      if (!isValid) return
      const body = { reason: reason.trim(), scope, ...(until !== undefined && { until }) }
      try {
        const headers = { 'if-match': `"${version}"` }
        await ask('POST /api/admin/identities/:identityId/suspension', { params: { identityId }, headers, body })
      } catch (error) {
        if (error instanceof ApiError && error.code === 'version_mismatch') await onStale()
        throw error
      }
      onClose()
      await onDone(words.suspend.done(isolate(displayName)))
    },
  } as const
  const options = [
    ...(scope === 'account' ? [] : ['--scope', scope]),
    ...(until === undefined ? [] : ['--until', until]),
  ]
  return (
    <Ask
      title={words.suspend.title(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'suspend', handle, '--reason', reason.trim() || '…', ...options]}
    >
      {present && (
        <Note tone="wait">
          <SuspensionFacts of={present} />
        </Note>
      )}
      <Field
        name="reason"
        label={words.suspend.reason}
        hint={words.suspend.reasonHint}
        value={reason}
        onInput={setReason}
        problem={isChecked && !isValid ? words.suspend.reasonMissing : undefined}
      />
      <ScopeChoice of={words.suspend.scopes} chosen={scope} onChoose={setScope} />
      <Select
        name="until"
        label={words.suspend.until}
        of={terms.map((value) => ({ value, label: words.suspend.terms[value] }))}
        chosen={term}
        onChoose={setTerm}
      />
    </Ask>
  )
}

/** Returns when a suspension ends by itself: to the minute, so that the command does not change while it is read. */
function endOf(term: Term): string | undefined {
  const days = daysOf[term]
  if (days === undefined) return undefined
  const end = new Date(Date.now() + days * 86_400_000)
  end.setSeconds(0, 0)
  return end.toISOString().replace('.000', '')
}

function Activate({ identity, onDone, onClose }: Props) {
  const { activate } = usePeopleMessages()
  const { ask } = useOperator()
  const { identityId, handle, displayName } = identity
  const words = identity.deletionDueAt === null ? activate : activate.alone
  const doneSentence = (changed: AdminIdentityDetails | undefined) => {
    if (changed && isSuspendedByDirectory(changed)) return activate.remains
    return changed?.suspensions.length === 0 && changed.deletionDueAt === null ? activate.done : activate.ended
  }
  const act = {
    name: 'activate',
    label: words.now,
    do: async () => {
      await ask('DELETE /api/admin/identities/:identityId/suspension', { params: { identityId } })
      onClose()
      await onDone((changed) => doneSentence(changed)(isolate(displayName)))
    },
  }
  return (
    <Ask title={words.title(isolate(displayName))} act={act} onClose={onClose} command={['people', 'activate', handle]}>
      <p>{isSuspendedByDirectory(identity) ? activate.whatRemains : words.what}</p>
    </Ask>
  )
}

function SignOut({ identity: { identityId, handle, displayName }, onDone, onClose }: Props) {
  const { signOut } = usePeopleMessages()
  const { ask } = useOperator()
  const [scope, setScope] = useState<Scope>('account')
  const act = {
    name: 'sign-out-identity',
    label: signOut.now,
    do: async () => {
      await ask('POST /api/admin/identities/:identityId/sign-out', { params: { identityId }, body: { scope } })
      onClose()
      await onDone(signOut.done(isolate(displayName)))
    },
  }
  return (
    <Ask
      title={signOut.title(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['people', 'sign-out', handle, ...(scope === 'account' ? [] : ['--scope', scope])]}
    >
      <p>{signOut.what}</p>
      <ScopeChoice of={signOut.scopes} chosen={scope} onChoose={setScope} />
    </Ask>
  )
}

type ScopeProps = {
  of: Record<Scope, { label: string; about: string }>
  chosen: Scope
  onChoose: (scope: Scope) => void
}

function ScopeChoice({ of, chosen, onChoose }: ScopeProps) {
  const words = usePeopleMessages()
  return (
    <RadioGroup
      name="scope"
      legend={words.scope}
      of={scopes.map((value) => ({ value, ...of[value] }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}
