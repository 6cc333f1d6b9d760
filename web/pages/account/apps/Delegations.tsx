import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { parseScope } from '@countersign/protocol/formats/scope'
import type { ComponentChildren } from 'preact'
import { dayOf } from '../../../lib/text/dates.ts'
import { redirectTargetLabel } from '../../../lib/navigation.ts'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { PermissionList } from '../../../components/display/Facts.tsx'
import { useLocale } from '../words.ts'
import { useAccountWords } from '../words.ts'
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
  const own = useAccountWords().apps
  return (
    <Card flush class="delegations" title={words.title} about={own.actingWhat}>
      {delegations.length === 0 && (
        <Empty icon="bot" title={own.noneActing}>
          <p>{own.noneActingWhat}</p>
        </Empty>
      )}
      {active.map((delegation) => (
        <Entry key={delegation.id} of={delegation} handle={handleOf(delegation)}>
          <button
            type="button"
            class="button danger-quiet"
            data-action={isDialogOpen ? undefined : 'revoke'}
            aria-label={words.revokeOf(pairOf(delegation, words))}
            aria-haspopup="dialog"
            onClick={() => onEnd(delegation)}
          >
            {words.revoke}
          </button>
        </Entry>
      ))}
      {ended.length > 0 && (
        <div class="ended-delegations">
          <Disclosure summary={words.ended(ended.length)}>
            {ended.map((delegation) => (
              <Entry key={delegation.id} of={delegation} handle={handleOf(delegation)} />
            ))}
          </Disclosure>
        </div>
      )}
    </Card>
  )
}

type EntryProps = { of: Delegation; handle: string; children?: ComponentChildren }

function Entry({ of: delegation, handle, children }: EntryProps) {
  const { words, language } = useLocale()
  const { sourceAppClientId, sourceAppName, sourceAppWebsiteUrl } = delegation
  const { targetAppClientId, targetAppName, targetResourceName, communicationMode, revokedAt } = delegation
  const facts = [
    words.apps.as(handle),
    targetResourceName !== targetAppName && targetResourceName,
    revokedAt === null && words.delegations.modes[communicationMode],
    revokedAt !== null && words.delegations.endedOn(dayOf(revokedAt, language, new Date())),
  ]
  return (
    <article class="delegation">
      <div class="delegation-who">
        <Avatar kind="app" name={sourceAppName} toneOf={sourceAppClientId} />
        <span class="delegation-arrow">
          <Icon name="arrow-right" class="flips" />
        </span>
        <Avatar kind="app" name={targetAppName} toneOf={targetAppClientId} />
        <Person name={pairOf(delegation, words.delegations)} detail={facts.filter(Boolean).join(' · ')} />
      </div>
      {sourceAppWebsiteUrl !== null && <p class="place small soft">{redirectTargetLabel(sourceAppWebsiteUrl)}</p>}
      <PermissionList of={permitsOf(delegation)} />
      <DelegationUses of={delegation} />
      {children && <div class="row">{children}</div>}
    </article>
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
