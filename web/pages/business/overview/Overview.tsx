import { scopesOfRole } from '@countersign/protocol/formats/role'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Permits } from '../../../components/ui/Facts.tsx'
import { Icon, type IconName } from '../../../components/ui/Icon.tsx'
import { Events } from '../activity/Events.tsx'
import { Invite } from '../members/Invite.tsx'
import { useInviting } from '../members/use-inviting.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { routePath } from '../routes.ts'
import type { Section } from '../sections.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { type Check, type OverviewFacts, readFacts } from './facts.ts'
import { useOverviewMessages } from './words.ts'
import { joinNames } from '../../../lib/text/lists.ts'
import { formatNumber } from '../../../lib/text/dates.ts'
import '../activity/activity.css'
import './overview.css'

type Props = Pick<SectionProps, 'organization' | 'returned' | 'goTo'>

/** What waits, what is set up, and what happened last. */
export function Overview({ organization, returned, goTo }: Props) {
  const words = useOverviewMessages()
  const business = useBusinessMessages()
  const doing = useActions()
  const [facts, setFacts] = useState<OverviewFacts>()
  const { rest, inviting, setInviting } = useInviting({ organization, returned })
  const read: Action = {
    name: 'retry',
    label: business.retry,
    do: async () => setFacts(await readFacts(organization)),
  }
  useEffect(() => void doing.perform(read), [])
  const mayInvite = organization.scopes.includes('manage_identities')
  const invite = (
    <button
      type="button"
      class="button primary"
      data-action="invite"
      aria-haspopup="dialog"
      onClick={() => setInviting(true)}
    >
      <Icon name="user-plus" size="sm" />
      {business.invite}
    </button>
  )
  return (
    <>
      <PageHead
        title={business.sections.overview}
        lead={words.lead(organization.name)}
        actions={mayInvite ? invite : undefined}
      />
      {facts ? (
        <Content facts={facts} organization={organization} goTo={goTo} />
      ) : (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={5} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {inviting && (
        <Invite
          organization={organization}
          rest={rest}
          onInvited={() => void doing.perform(read)}
          onClose={() => setInviting(false)}
        />
      )}
    </>
  )
}

type ContentProps = Pick<Props, 'organization' | 'goTo'> & { facts: OverviewFacts }

function Content({ facts, organization, goTo }: ContentProps) {
  const words = useOverviewMessages()
  const business = useBusinessMessages()
  const people = usePeopleMessages()
  const { members, owners, invitations, waiting, checks, recent } = facts
  const to = (section: Section) => ({ at: 'organization', organizationId: organization.id, section }) as const
  const link = (section: Section, text: string) => (
    <RouteLink class="standalone" href={routePath(to(section))} onFollow={() => goTo(to(section))}>
      {text}
    </RouteLink>
  )
  const about = [words.owners(owners), ...(invitations ? [words.invitations(invitations)] : [])]
  return (
    <>
      <div class="overview-numbers">
        <Number icon="users" value={members} label={words.members(members)} detail={joinNames(about)}>
          {link('members', words.open)}
        </Number>
        <Number icon="file-pen-line" value={waiting} label={words.documents(waiting)} detail={words.waiting(waiting)}>
          {link('documents', words.open)}
        </Number>
      </div>
      {checks.length > 0 && <Setup of={checks} link={link} />}
      {recent && (
        <Card title={words.recent} actions={link('activity', words.all)} flush>
          <Events organization={organization} entries={recent.entries} people={recent.people} />
        </Card>
      )}
      <Card title={words.yours} actions={<Chip tone="pen">{business.roles[organization.role]}</Chip>}>
        <p class="small soft">{people.roleMay(business.roles[organization.role])}</p>
        <Permits
          of={scopesOfRole.owner.map((scope) => ({
            key: scope,
            text: business.scopes[scope],
            isAllowed: organization.scopes.includes(scope),
          }))}
        />
        {organization.signingAuthority && <p class="small">{words.signs}</p>}
      </Card>
    </>
  )
}

type NumberProps = { icon: IconName; value: number; label: string; detail: string; children: preact.ComponentChildren }

function Number({ icon, value, label, detail, children }: NumberProps) {
  return (
    <section class="card overview-number">
      <span class="glyph pen">
        <Icon name={icon} />
      </span>
      <p>
        <strong class="figure">{formatNumber(value)}</strong> <span>{label}</span>
      </p>
      <p class="small soft">{detail}</p>
      {children}
    </section>
  )
}

/** Steps that make an organization safer, with the open ones first. */
function Setup({ of, link }: { of: Check[]; link: (section: Section, text: string) => preact.ComponentChildren }) {
  const words = useOverviewMessages()
  const done = of.filter(({ isDone }) => isDone).length
  const sorted = of.toSorted((one, other) => (one.isDone ? 1 : 0) - (other.isDone ? 1 : 0))
  return (
    <Card
      title={words.setup}
      actions={<Chip tone={done === of.length ? 'ok' : 'wait'}>{words.setupDone(done, of.length)}</Chip>}
      flush
    >
      <ul class="list">
        {sorted.map(({ name, isDone, section }) => (
          <li key={name}>
            <span class={isDone ? 'glyph sm ok' : 'glyph sm'}>
              <Icon name={isDone ? 'check' : 'plus'} size="sm" />
            </span>
            <div class="body">
              {isDone ? (
                <span>{words.checks[name].done}</span>
              ) : (
                <strong>{link(section, words.checks[name].open)}</strong>
              )}
              {!isDone && <small>{words.checks[name].why}</small>}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}
