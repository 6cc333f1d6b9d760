import type { Delegation } from '@countersign/protocol/oauth/delegations'
import { scopesOf } from '@countersign/protocol/formats/scope'
import type { ComponentChildren } from 'preact'
import { dayOf } from '../../../lib/text/dates.ts'
import { placeOf } from '../../../lib/place.ts'
import { Monogram } from '../../../components/display/Monogram.tsx'
import { Permits } from '../../../components/display/Permits.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { DelegationUses } from './DelegationUses.tsx'

type Props = {
  delegations: Delegation[]
  handleOf: (delegation: Delegation) => string
  /** Whether a question is open; then its answer alone carries the hook. */
  asking: boolean
  onEnd: (delegation: Delegation) => void
}

/** What apps may do at others as the names of the person, and what they might until lately. */
export function Delegations({ delegations, handleOf, asking, onEnd }: Props) {
  const words = useSpeech().words.delegations
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
              data-action={asking ? undefined : 'revoke'}
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
  const { words, language } = useSpeech()
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
        {sourceAppWebsiteUrl !== null && <p class="place">{placeOf(sourceAppWebsiteUrl)}</p>}
        <p>{facts.filter(Boolean).join(' · ')}</p>
        <Permits of={permitsOf(delegation)} />
        <DelegationUses of={delegation} />
      </div>
      {children}
    </li>
  )
}

function permitsOf({ scope, scopeDescriptions }: Delegation) {
  return scopesOf(scope).map((each) => ({ scope: each, description: scopeDescriptions[each] ?? '' }))
}

/** Which app may act at which other. */
export function pairOf(
  { sourceAppName, targetAppName }: Delegation,
  { pair }: { pair: (source: string, target: string) => string },
): string {
  return pair(sourceAppName, targetAppName)
}
