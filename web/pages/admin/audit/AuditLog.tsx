import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { useMemo, useRef } from 'preact/hooks'
import { useLocale } from '../../../components/frame/Root.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { formatMoment } from '../../../lib/text/dates.ts'
import { useOperator } from '../acting/operator.ts'
import { More } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { type Page, useList } from '../reading/use-list.ts'
import { type Navigate, routePath, type SectionProps } from '../routes.ts'
import { AuditFilters } from './AuditFilters.tsx'
import { type AppliedFilter, selectionOf, type StreamFilter } from './filter.ts'
import { newEventsMax, useNewEvents } from './use-new-events.ts'
import { useActorName } from './use-actor-name.ts'
import { useAuditMessages } from './words.ts'

type Props = Pick<SectionProps, 'goTo'> & { applied: AppliedFilter; onApply: (applied: AppliedFilter) => void }

/** Everything that was done on the service, newest first. */
export function AuditLog({ goTo, applied, onApply }: Props) {
  const words = useAuditMessages()
  const operator = useOperator()
  const { filter } = applied
  const events = useList<AuditEvent, { selecting: StreamFilter }>(
    async (cursor) => {
      const { from, ...others } = filter
      const selecting = await selectionOf(operator, others)
      const querystring = { limit: '50', ...selecting, ...(from && { from }), ...(cursor !== undefined && { cursor }) }
      const page = await operator.ask('GET /api/admin/audit', { querystring })
      return { items: page.entries, nextCursor: page.nextCursor, selecting }
    },
    [filter],
  )
  const newest = events.value?.items[0]?.sequence ?? 0
  const selecting = events.value?.selecting
  // The stream stays open while the list is read again.
  const followed = useMemo(() => selecting, [JSON.stringify(selecting)])
  const { count, isFollowing } = useNewEvents({ filter: followed, newest, onMissed: events.again })
  const list = useRef<HTMLOListElement>(null)
  return (
    <Card flush>
      <AuditFilters applied={applied} onApply={onApply} />
      <div class="new-events">
        <div>
          {count > 0 ? (
            <button
              type="button"
              class="button"
              data-action="show-new-events"
              onClick={() => {
                events.again()
                list.current?.focus()
              }}
            >
              {words.showNew(Math.min(count, newEventsMax), count > newEventsMax)}
            </button>
          ) : (
            isFollowing && <small>{words.nothingNew}</small>
          )}
        </div>
      </div>
      <Announcements hasNew={count > 0} shown={events.value} />
      <Reading of={events} rows={8}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <NoEvent isFiltered={Object.keys(filter).length > 0} isAtEnd={nextCursor === null} />
          ) : (
            <ol class="list audit-log" ref={list} tabIndex={-1}>
              {items.map((event) => (
                <Event key={event.entryId} event={event} goTo={goTo} />
              ))}
            </ol>
          )
        }
      </Reading>
      <More of={events} />
    </Card>
  )
}

/**
 * Says what has changed to screen readers. Of new events only that there are some, because the growing number would be
 * announced with each event.
 */
function Announcements({ hasNew, shown }: { hasNew: boolean; shown: Page<AuditEvent> | undefined }) {
  const words = useAuditMessages()
  const isEmptySoFar = shown?.items.length === 0 && shown.nextCursor !== null
  return (
    <>
      <p class="vh" role="status">
        {hasNew && words.someNew}
      </p>
      <p class="vh" role="status">
        {shown && (isEmptySoFar ? words.noneSoFar : words.shown(shown.items.length))}
      </p>
    </>
  )
}

/** Says that there is no event, or none so far: a page may be empty before the end. */
function NoEvent({ isFiltered, isAtEnd }: { isFiltered: boolean; isAtEnd: boolean }) {
  const words = useAuditMessages()
  if (!isAtEnd) return <p class="pad">{words.noneSoFar}</p>
  if (!isFiltered) return <Empty icon="scroll-text" title={words.none} level={2} />
  return (
    <Empty icon="search" title={words.noMatch} level={2}>
      <p>{words.noMatchWhat}</p>
    </Empty>
  )
}

function Event({ event, goTo }: { event: AuditEvent; goTo: Navigate }) {
  const words = useAuditMessages()
  const { language } = useLocale()
  const nameOf = useActorName()
  const { action, result, actor, at, address, requestId, details } = event
  const isDetailed = requestId !== null || Object.keys(details).length > 0
  return (
    <li>
      <span class="glyph sm">
        <Icon name={operators.includes(actor.kind) ? 'shield-check' : 'activity'} size="sm" />
      </span>
      <div class="body">
        <strong>
          <code dir="ltr">{action}</code> {result === 'failure' && <Chip tone="bad">{words.failed}</Chip>}
        </strong>
        <small>
          <time dateTime={at}>{formatMoment(at, language, new Date())}</time> · {nameOf(actor)}
          {address !== null && (
            <>
              {' '}
              · <bdi>{address}</bdi>
            </>
          )}
        </small>
        <Concerned by={event} goTo={goTo} />
        {isDetailed && (
          <Disclosure summary={words.details}>
            {requestId !== null && (
              <small>
                {words.request} <code dir="ltr">{requestId}</code>
              </small>
            )}
            {Object.keys(details).length > 0 && (
              <pre class="audit-details" dir="ltr">
                {JSON.stringify(details, null, 2)}
              </pre>
            )}
          </Disclosure>
        )}
      </div>
    </li>
  )
}

const operators: AuditEvent['actor']['kind'][] = ['operator', 'token', 'scim', 'break_glass']
const shownApart = new Set(['app', 'identity'])

/** Names what an event concerns: its object, its app and its identity. */
function Concerned({ by: event, goTo }: { by: AuditEvent; goTo: Navigate }) {
  const words = useAuditMessages()
  const { actor, object, clientId, organizationId, identityId } = event
  const named = [actor, object].find((each) => each?.id === identityId && each?.name)
  return (
    <>
      {object !== null && !shownApart.has(object.kind) && (
        <small>
          {words.object} <code dir="ltr">{`${object.kind} ${object.name ?? object.id}`}</code>
        </small>
      )}
      {clientId !== null && (
        <small>
          {words.app} <code dir="ltr">{clientId}</code>
          {object?.kind === 'app' && object.name !== null && (
            <>
              {' '}
              (<bdi>{object.name}</bdi>)
            </>
          )}
        </small>
      )}
      {organizationId !== null && object?.kind !== 'organization' && (
        <small>
          {words.organization} <code dir="ltr">{organizationId}</code>
        </small>
      )}
      {identityId !== null && <IdentityLink identityId={identityId} name={named?.name ?? identityId} goTo={goTo} />}
    </>
  )
}

function IdentityLink({ identityId, name, goTo }: { identityId: string; name: string; goTo: Navigate }) {
  const words = useAuditMessages()
  const opened = { section: 'people', id: identityId } as const
  return (
    <small>
      {words.identity}{' '}
      <RouteLink class="link" href={routePath(opened)} onFollow={() => goTo(opened)}>
        <code dir="ltr">{name}</code>
      </RouteLink>
    </small>
  )
}
