import type { Delegation, DelegationUse } from '@countersign/protocol/oauth/delegations'
import { parseScope } from '@countersign/protocol/formats/scope'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { dayOf, momentOf } from '../../../lib/text/dates.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../words.ts'
import { Spinner } from '../../../components/display/Facts.tsx'

const daysRemembered = pageLimits.delegationRememberedSeconds / (24 * 3600)

/** Shows when an app used a delegation. Loads the list on demand. */
export function DelegationUses({ of: delegation }: { of: Delegation }) {
  const { words, language } = useLocale()
  const doing = useActions()
  const [uses, setUses] = useState<DelegationUse[]>()
  const { id, lastUsedAt } = delegation
  if (lastUsedAt === null) return <p>{words.delegations.unused}</p>
  const read: Action = {
    name: 'read-uses',
    label: words.account.retry,
    do: async () => {
      const found = await call('GET /api/oauth/delegations/:delegationId/uses', { params: { delegationId: id } })
      setUses(found.uses)
    },
  }
  return (
    <details onToggle={({ currentTarget }) => void (currentTarget.open && doing.perform(read))}>
      <summary>{words.delegations.lastUsed(dayOf(lastUsedAt, language, new Date()))}</summary>
      {!uses && doing.problem === undefined && <Spinner />}
      {doing.problem !== undefined && <Actions of={[read]} doing={doing} />}
      {uses?.length === 0 && <p>{words.delegations.notLately(daysRemembered)}</p>}
      {uses && uses.length > 0 && (
        <ul class="uses">
          {uses.map((use) => (
            <li key={`${use.at} ${use.scope}`}>
              <Use of={use} delegation={delegation} />
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

/** One use: the permission in the words of the other app if it has a description, the time, and the uses per minute. */
function Use({ of: { at, scope, count }, delegation }: { of: DelegationUse; delegation: Delegation }) {
  const { words, language } = useLocale()
  const facts = [momentOf(at, language), count > 1 && words.delegations.times(count)]
  return (
    <>
      {parseScope(scope).map((each) => (
        <p key={each}>
          <bdi>{delegation.scopeDescriptions[each] ?? each}</bdi>
        </p>
      ))}
      <p class="aside">{facts.filter(Boolean).join(' · ')}</p>
    </>
  )
}
