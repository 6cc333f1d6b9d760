import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { parseScope } from '@countersign/protocol/formats/scope'
import type { ComponentChildren } from 'preact'
import { dayOf } from '../../../lib/text/dates.ts'
import { redirectTargetLabel } from '../../../lib/navigation.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { PermissionList } from '../../../components/display/Facts.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { DelegationUses } from './DelegationUses.tsx'

type Props = {
  delegations: Delegation[]
  handleOf: (delegation: Delegation) => string
  /** True while a dialog is open. Then only its button has the hook. */
  isDialogOpen: boolean
  onEnd: (delegation: Delegation) => void
}

/** Lists the delegations of the user's identities, and those that ended recently. */
export function Delegations({ delegations, handleOf, isDialogOpen, onEnd }: Props) {
  const words = useLocale().words.delegations
  const active = delegations.filter(({ status }) => status === 'active')
  const ended = delegations.filter(({ status }) => status === 'revoked')
  if (delegations.length === 0) return null
  return (
    <section class="apart delegations">
      <h2>{words.title}</h2>
      <ul class="entries">
        {active.map((delegation) => (
          <Entry key={delegation.id} of={delegation} handle={handleOf(delegation)}>
            <button
              type="button"
              class="button quiet"
              data-action={isDialogOpen ? undefined : 'revoke'}
              aria-label={words.revokeOf(pairOf(delegation, words))}
              onClick={() => onEnd(delegation)}
            >
              {words.revoke}
            </button>
          </Entry>
        ))}
      </ul>
      {ended.length > 0 && (
        <details class="ended-delegations">
          <summary>{words.ended(ended.length)}</summary>
          <ul class="entries">
            {ended.map((delegation) => (
              <Entry key={delegation.id} of={delegation} handle={handleOf(delegation)} />
            ))}
          </ul>
        </details>
      )}
    </section>
  )
}

type EntryProps = { of: Delegation; handle: string; children?: ComponentChildren }

function Entry({ of: delegation, handle, children }: EntryProps) {
  const { words, language } = useLocale()
  const { sourceAppName, sourceAppWebsiteUrl, targetAppName, targetResourceName } = delegation
  const { communicationMode, revokedAt } = delegation
  const facts = [
    words.apps.as(handle),
    targetResourceName !== targetAppName && targetResourceName,
    revokedAt === null && words.delegations.modes[communicationMode],
    revokedAt !== null && words.delegations.endedOn(dayOf(revokedAt, language, new Date())),
  ]
  return (
    <li class="entry with-monogram">
      <Monogram name={sourceAppName} />
      <div>
        <h3>{pairOf(delegation, words.delegations)}</h3>
        {sourceAppWebsiteUrl !== null && <p class="place">{redirectTargetLabel(sourceAppWebsiteUrl)}</p>}
        <p>{facts.filter(Boolean).join(' · ')}</p>
        <PermissionList of={permitsOf(delegation)} />
        <DelegationUses of={delegation} />
      </div>
      {children}
    </li>
  )
}

function permitsOf({ scope, scopeDescriptions }: Delegation) {
  return parseScope(scope).map((each) => ({ scope: each, description: scopeDescriptions[each] ?? '' }))
}

/** Names the app that may act and the app at which it may act. */
export function pairOf(
  { sourceAppName, targetAppName }: Delegation,
  { pair }: { pair: (source: string, target: string) => string },
): string {
  return pair(sourceAppName, targetAppName)
}
