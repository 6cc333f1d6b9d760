import type { Health, HealthCheck, Overview as Counts } from '@countersign/protocol/operations/health'
import type { Permission } from '@countersign/protocol/formats/registries/permissions'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip, Note } from '../../../components/ui/Chip.tsx'
import { Icon, type IconName } from '../../../components/ui/Icon.tsx'
import { dayOf, formatNumber } from '../../../lib/text/dates.ts'
import { useOperator } from '../acting/operator.ts'
import { Reading } from '../reading/Reading.tsx'
import { useReading } from '../reading/use-reading.ts'
import { type AdminRoute, routePath, type Section, type SectionProps } from '../routes.ts'
import { useOverviewMessages } from './words.ts'

type Facts = { health: Health; counts: Counts }

/** The largest count that the server gives. */
const countMax = 10_000

/** What needs attention, what there is, and the first steps of a new service. */
export function Overview({ goTo }: SectionProps) {
  const words = useOverviewMessages()
  const { ask } = useOperator()
  const facts = useReading<Facts>(async () => {
    const [health, counts] = await Promise.all([ask('GET /api/admin/health', {}), ask('GET /api/admin/overview', {})])
    return { health, counts }
  }, [])
  return (
    <>
      <PageHead title={words.title} />
      <Reading of={facts}>
        {({ health, counts }) => (
          <>
            <Attention health={health} goTo={goTo} />
            <Numbers counts={counts} goTo={goTo} />
            <FirstSteps counts={counts} goTo={goTo} />
          </>
        )}
      </Reading>
    </>
  )
}

function Attention({ health: { checks, version }, goTo }: Pick<SectionProps, 'goTo'> & { health: Health }) {
  const words = useOverviewMessages()
  const problems = [...checks.filter(isFailing), ...checks.filter(({ status }) => status === 'warning')]
  if (problems.length === 0)
    return (
      <Note tone="ok">
        {words.well} {words.version(version)}
      </Note>
    )
  return (
    <Card title={words.attention} flush foot={words.version(version)}>
      <ul class="list health-problems">
        {problems.map((check) => (
          <Problem key={check.name} of={check} goTo={goTo} />
        ))}
      </ul>
    </Card>
  )
}

function isFailing({ status }: HealthCheck): boolean {
  return status === 'failing'
}

/** Where a problem is solved, and the permission that this takes. Others are solved on the machine. */
const places: Partial<Record<HealthCheck['name'], { to: AdminRoute; permission: Permission }>> = {
  invitation_mails: { to: { section: 'invitations' }, permission: 'people.invite' },
  sinks: { to: { section: 'audit', id: 'sinks' }, permission: 'sinks.manage' },
  token_signing_keys: { to: { section: 'keys' }, permission: 'keys.manage' },
  backup: { to: { section: 'backups' }, permission: 'backup.create' },
  owners: { to: { section: 'operators' }, permission: 'operators.manage' },
  admin_tokens: { to: { section: 'operators', id: 'tokens' }, permission: 'tokens.manage' },
  scim_tokens: { to: { section: 'operators', id: 'directories' }, permission: 'tokens.manage' },
}

function Problem({ of: check, goTo }: Pick<SectionProps, 'goTo'> & { of: HealthCheck }) {
  const words = useOverviewMessages()
  const { may } = useOperator()
  const { language } = useLocale()
  const { name, since } = check
  const { title, fix } = words.checks[name]
  const place = places[name]
  return (
    <li>
      <span class="glyph sm">
        <Icon name={isFailing(check) ? 'triangle-alert' : 'circle-alert'} size="sm" />
      </span>
      <div class="body">
        {place && may(place.permission) ? (
          <RouteLink
            class="standalone"
            href={routePath(place.to)}
            onFollow={() => goTo(place.to)}
            action={`solve-${name}`}
          >
            {title}
          </RouteLink>
        ) : (
          <strong>{title}</strong>
        )}
        <small>{fix}</small>
        {since !== null && <small>{words.since(dayOf(since, language, new Date()))}</small>}
        <Chip tone={isFailing(check) ? 'bad' : 'wait'}>{isFailing(check) ? words.failing : words.warning}</Chip>
      </div>
    </li>
  )
}

type CountsProps = Pick<SectionProps, 'goTo'> & { counts: Counts }

const numbers: { name: keyof Counts; section: Section; icon: IconName; permission: Permission }[] = [
  { name: 'pendingInvitations', section: 'invitations', icon: 'mail', permission: 'people.invite' },
  { name: 'suspendedIdentities', section: 'people', icon: 'user-x', permission: 'people.read' },
  { name: 'apps', section: 'apps', icon: 'app-window', permission: 'apps.read' },
  { name: 'operators', section: 'operators', icon: 'shield-check', permission: 'operators.read' },
]

function Numbers({ counts, goTo }: CountsProps) {
  const words = useOverviewMessages()
  const { may } = useOperator()
  return (
    <div class="admin-numbers">
      {numbers.map(({ name, section, icon, permission }) => (
        <section key={name} class="card admin-number">
          <span class="glyph pen">
            <Icon name={icon} />
          </span>
          <p>
            <span class="soft">{words.numbers[name]}</span> <strong class="figure">{counted(counts[name])}</strong>
          </p>
          {may(permission) && (
            <RouteLink
              class="standalone"
              href={routePath({ section })}
              onFollow={() => goTo({ section })}
              action={`open-${section}`}
            >
              {words.open[name]}
            </RouteLink>
          )}
        </section>
      ))}
    </div>
  )
}

function counted(count: number): string {
  return count >= countMax ? `${formatNumber(countMax)}+` : formatNumber(count)
}

const steps: { name: 'invite' | 'groups' | 'owner'; section: Section; permission: Permission }[] = [
  { name: 'invite', section: 'invitations', permission: 'people.invite' },
  { name: 'groups', section: 'groups', permission: 'groups.manage' },
  { name: 'owner', section: 'operators', permission: 'operators.manage' },
]

/** Shows three ways to begin on a service that has one operator and no invitation. */
function FirstSteps({ counts: { pendingInvitations, operators }, goTo }: CountsProps) {
  const words = useOverviewMessages()
  const { may } = useOperator()
  if (operators > 1 || pendingInvitations > 0) return null
  return (
    <Card title={words.first} flush>
      <ol class="list">
        {steps.map(({ name, section, permission }) => (
          <li key={name}>
            <span class="glyph sm">
              <Icon name="plus" size="sm" />
            </span>
            <div class="body">
              {may(permission) ? (
                <RouteLink
                  class="standalone"
                  href={routePath({ section })}
                  onFollow={() => goTo({ section })}
                  action={`first-${name}`}
                >
                  {words.steps[name].title}
                </RouteLink>
              ) : (
                <strong>{words.steps[name].title}</strong>
              )}
              <small>{words.steps[name].why}</small>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}
