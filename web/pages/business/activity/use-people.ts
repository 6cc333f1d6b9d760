import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocale } from '../../../components/frame/Root.tsx'
import { reportUnexpected } from '../../../lib/api/error-message.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { noFilter as everyMember, readAllMembers } from '../members/people.ts'
import type { EventPage } from './read-events.ts'

type Names = ReadonlyMap<string, string>

/**
 * Names the people whose events can be chosen, by their identities: those of the events that were read so far, also if
 * they have left, and all members. These are read when the user first opens the choice: there may be many.
 */
export function usePeople(organization: OwnOrganization, page: EventPage | undefined) {
  const { language } = useLocale()
  const [names, setNames] = useState<Names>(new Map())
  const isRead = useRef(false)
  const add = (more: Names) => {
    const sorted = [...more].toSorted(([, one], [, other]) => one.localeCompare(other, language))
    // Names come while the choice is open, where no option may move.
    setNames((present) => new Map([...present, ...sorted]))
  }
  useEffect(() => {
    if (page) add(actorsOf(page))
  }, [page])
  const readMembers = () => {
    if (isRead.current) return
    isRead.current = true
    void readAllMembers(organization, everyMember).then(
      (members) => add(new Map(members.map(({ identityId, displayName }) => [identityId, displayName]))),
      (error: unknown) => {
        isRead.current = false
        reportUnexpected(error)
      },
    )
  }
  return { options: [...names].map(([value, label]) => ({ value, label })), readMembers }
}

/** Names who acted. A deleted identity has no name. */
function actorsOf({ entries, people }: EventPage): Names {
  const names = new Map(people.map(({ identityId, displayName }) => [identityId, displayName]))
  return new Map(
    entries.flatMap(({ identityId, handle }) => {
      if (identityId === null) return []
      const name = names.get(identityId) ?? (handle === null ? undefined : atHandle(handle))
      return name === undefined ? [] : [[identityId, name] as const]
    }),
  )
}
