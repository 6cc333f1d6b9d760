import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { type Fact, Facts } from '../../../components/ui/Facts.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { downloadFile } from '../../../lib/download.ts'
import { formatDayAlone, formatMoment } from '../../../lib/text/dates.ts'
import { joinValues } from '../../../lib/text/lists.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { useOperator } from '../acting/operator.ts'
import type { Act, Said } from './ActDialog.tsx'
import { Recovery } from './recovery/Recovery.tsx'
import { suspensionByOperators } from './suspended/source.ts'
import { SuspensionFacts } from './suspended/SuspensionFacts.tsx'
import { usePeopleMessages } from './words.ts'

type Props = {
  identity: AdminIdentityDetails
  onAct: (act: Act | 'edit') => void
  /** Called when something is done, with a sentence that says so. */
  onDone: (said: Said) => Promise<void>
}

/** Says what is known of an identity, and offers what the operator may do with it. */
export function Overview({ identity, onAct, onDone }: Props) {
  const words = usePeopleMessages()
  const { may } = useOperator()
  const acts = (
    <>
      {may('people.suspend') && <Suspension identity={identity} onAct={onAct} />}
      <Deletion identity={identity} onAct={onAct} />
    </>
  )
  return (
    <>
      <div class="pad stack">
        <Facts of={useFacts(identity)} isRuled />
        <Note>{words.unseen}</Note>
        <div class="row">
          {may('people.edit') && identity.managedBy === 'self' && (
            <button type="button" class="button" data-action="ask-edit-identity" onClick={() => onAct('edit')}>
              <Icon name="pencil" size="sm" />
              {words.edit.open}
            </button>
          )}
          {may('people.suspend') && (
            <button type="button" class="button" data-action="ask-sign-out" onClick={() => onAct('sign-out')}>
              <Icon name="log-out" size="sm" />
              {words.signOut.open}
            </button>
          )}
          {may('people.export') && <ExportIdentity identity={identity} />}
        </div>
      </div>
      {identity.deletionDueAt === null && may('people.recover') ? (
        <Recovery identity={identity} onDone={onDone}>
          {acts}
        </Recovery>
      ) : (
        acts
      )}
    </>
  )
}

/** Saves the data of an identity as a file. */
function ExportIdentity({ identity: { identityId, handle } }: Pick<Props, 'identity'>) {
  const words = usePeopleMessages()
  const { ask } = useOperator()
  const doing = useActions()
  const save = async () => {
    const data = await ask('GET /api/admin/identities/:identityId/export', { params: { identityId } })
    downloadFile(JSON.stringify(data, null, 2), 'application/json', `${handle}.json`)
  }
  const action: Action = { name: 'export-identity', label: words.export, look: 'secondary', icon: 'download', do: save }
  return <Actions of={[action]} doing={doing} />
}

function useFacts(identity: AdminIdentityDetails): Fact[] {
  const { facts, yes, no, notYet, never, organization, memberRoles: roles } = usePeopleMessages()
  const { language } = useLocale()
  const { lastSeenOn, groups, organizations, email, emailVerified } = identity
  const named: Partial<Record<string, string>> = roles
  const roleOf = (role: string) => named[role] ?? role
  const answer = (is: boolean) => (is ? yes : notYet)
  const now = new Date()
  return [
    { label: facts.id, value: <code>{identity.identityId}</code> },
    ...(email === null ? [] : [{ label: facts.emailVerified, value: answer(emailVerified) }]),
    { label: facts.passkey, value: answer(identity.hasPasskey) },
    { label: facts.recoveryCode, value: answer(identity.hasRecoveryCode) },
    { label: facts.signingKey, value: answer(identity.hasSigningKey) },
    ...(identity.managedBy === 'self' ? [] : [{ label: facts.managedBy, value: facts.directory }]),
    { label: facts.lastSeen, value: lastSeenOn === null ? never : formatDayAlone(lastSeenOn, language, now) },
    {
      label: facts.groups,
      value: groups.length === 0 ? no : <code dir="ltr">{groups.join(' ')}</code>,
    },
    {
      label: facts.organizations,
      value:
        organizations.length === 0
          ? no
          : joinValues(organizations.map(({ name, role }) => organization(isolate(name), roleOf(role)))),
    },
  ]
}

/**
 * Says who suspends an identity. Operators end their own suspension alone. They can suspend the account in any case,
 * except while a deletion is scheduled, which has ended what the identity can use.
 */
function Suspension({ identity, onAct }: Pick<Props, 'identity' | 'onAct'>) {
  const { suspend, activate } = usePeopleMessages()
  const ours = suspensionByOperators(identity)
  const isDeleted = identity.deletionDueAt !== null
  return (
    <>
      {identity.suspensions.map((each) => (
        <div key={each.source} class="danger-row">
          <SuspensionFacts of={each} />
          {each === ours && (
            <button type="button" class="button primary" data-action="ask-activate" onClick={() => onAct('activate')}>
              {isDeleted ? activate.alone.open : activate.open}
            </button>
          )}
        </div>
      ))}
      {!isDeleted && ours?.scope !== 'account' && (
        <div class="danger-row">
          <div>
            <strong>{suspend.row}</strong>
            <p class="small soft">{suspend.what}</p>
          </div>
          <button type="button" class="button danger" data-action="ask-suspend" onClick={() => onAct('suspend')}>
            <Icon name="ban" size="sm" />
            {suspend.open}
          </button>
        </div>
      )}
    </>
  )
}

function Deletion({ identity: { statusReason, deletionDueAt }, onAct }: Pick<Props, 'identity' | 'onAct'>) {
  const { remove, restore } = usePeopleMessages()
  const { language } = useLocale()
  const { may } = useOperator()
  if (deletionDueAt !== null)
    return (
      <div class="danger-row">
        <div>
          <strong>{restore.because(isolate(statusReason ?? ''))}</strong>
          <p class="small soft">{restore.due(formatMoment(deletionDueAt, language, new Date()))}</p>
        </div>
        {may('people.delete') && (
          <button type="button" class="button primary" data-action="ask-restore" onClick={() => onAct('restore')}>
            {restore.open}
          </button>
        )}
      </div>
    )
  if (!may('people.delete')) return null
  return (
    <div class="danger-row">
      <div>
        <strong>{remove.row}</strong>
        <p class="small soft">{remove.what}</p>
      </div>
      <button type="button" class="button danger" data-action="ask-delete" onClick={() => onAct('delete')}>
        <Icon name="trash" size="sm" />
        {remove.open}
      </button>
    </div>
  )
}
