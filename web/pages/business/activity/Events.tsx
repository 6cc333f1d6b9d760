import type { NamedIdentity, OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useActivityMessages } from '../../../components/display/activity-words.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import type { IconName } from '../../../components/ui/Icon.tsx'
import { TimelineDay, TimelineEvent } from '../../../components/ui/Timeline.tsx'
import { formatDay, formatTime, isSameDay } from '../../../lib/text/dates.ts'
import { useBusinessMessages } from '../words.ts'
import { Proof } from './Proof.tsx'
import { sentenceOf, type SentencePart } from './sentence.ts'
import { useOrganizationActivityMessages } from './words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = {
  organization: OwnOrganization
  entries: OrganizationAuditEntry[]
  people: NamedIdentity[]
}

/** Events of an organization, newest first, by days. */
export function Events({ organization, entries, people }: Props) {
  const { language } = useLocale()
  const days: OrganizationAuditEntry[][] = []
  for (const entry of entries) {
    const [newest] = days.at(-1) ?? []
    if (newest && isSameDay(newest.at, entry.at)) days.at(-1)?.push(entry)
    else days.push([entry])
  }
  return (
    <>
      {days.map((day) => (
        <TimelineDay key={day[0]?.entryId} title={formatDay(day[0]?.at ?? '', language, new Date())}>
          {day.map((entry) => (
            <Event key={entry.entryId} of={entry} organization={organization} people={people} />
          ))}
        </TimelineDay>
      ))}
    </>
  )
}

type EventProps = Omit<Props, 'entries'> & { of: OrganizationAuditEntry }

function Event({ of: entry, organization, people }: EventProps) {
  const { language } = useLocale()
  const words = useOrganizationActivityMessages().proof
  const parts = useSentence(entry, people)
  const { at, action, identityId, handle, details } = entry
  const actor = people.find((each) => each.identityId === identityId)
  const sentence = <Sentence of={parts} />
  const { trailEntry, signature } = details
  const proof =
    typeof trailEntry === 'number' ? (
      <Proof organization={organization} sequence={trailEntry} people={people} sentence={sentence} />
    ) : typeof signature === 'string' ? (
      <Chip icon="signature">{words.noted}</Chip>
    ) : undefined
  return (
    <TimelineEvent
      instant={at}
      time={formatTime(at, language)}
      icon={iconOf(action)}
      avatar={actor && <Avatar name={actor.displayName} picture={actor.avatarUrl} toneOf={actor.handle} size="sm" />}
      detail={handle === null ? undefined : atHandle(handle)}
      more={proof}
    >
      {sentence}
    </TimelineEvent>
  )
}

function useSentence(entry: OrganizationAuditEntry, people: NamedIdentity[]): SentencePart[] {
  const activity = useOrganizationActivityMessages()
  const { roles } = useBusinessMessages()
  const { activity: recorded } = useActivityMessages()
  return sentenceOf(entry, people, { activity, roles, names: recorded.acts })
}

function Sentence({ of: parts }: { of: SentencePart[] }) {
  return (
    <>
      {parts.map(({ text, isName }, index) =>
        isName ? <strong key={index}>{text}</strong> : <span key={index}>{text}</span>,
      )}
    </>
  )
}

const icons: [prefix: string, icon: IconName][] = [
  ['organization.domain', 'globe'],
  ['organization.invitation', 'mail'],
  ['organization.member', 'users'],
  ['organization.key', 'key-round'],
  ['organization.signing', 'file-pen-line'],
  ['signing', 'file-pen-line'],
  ['scim', 'refresh-cw'],
  ['sso', 'log-in'],
]

function iconOf(action: string): IconName {
  return icons.find(([prefix]) => action.startsWith(prefix))?.[1] ?? 'activity'
}
