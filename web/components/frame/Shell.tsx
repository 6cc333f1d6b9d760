import type { ComponentChildren } from 'preact'
import { readSiteSettings } from '../../lib/page-data.ts'
import { wasOperator } from '../../lib/remembered.ts'
import { Avatar, Person } from '../ui/Avatar.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { Menu, type MenuItem } from '../ui/Menu.tsx'
import { Toasts } from './Toasts.tsx'
import { Foot, Letterhead, Preferences } from './Letterhead.tsx'
import { useMessages } from './Root.tsx'
import { RouteLink } from './route.tsx'
import { useTitle } from './Frame.tsx'
import { atHandle } from '../../lib/text/handle.ts'
import { formatNumber } from '../../lib/text/dates.ts'

export type Area = 'account' | 'organizations' | 'developers' | 'operator'

export type ShellSection = {
  href: string
  icon: IconName
  label: string
  current: boolean
  /** Number of items that wait there for the user. */
  count?: number
  /** Title of the group that begins with this section. */
  group?: string
  onFollow?: () => void
  action?: string
}

/** The user whose menu the letterhead shows. */
export type ShellUser = { displayName: string; handle: string; avatarUrl?: string | null }

type Props = {
  area: Area
  title: string
  /** The section or tab of what the title names. The title of the window begins with it. */
  part?: string | undefined
  sections: ShellSection[]
  /** Undefined while it is not known who is signed in. */
  user?: ShellUser | undefined
  onSignOut?: (() => void) | undefined
  /** Number of signing requests that wait for the user. */
  waiting?: number
  /** Switches between the things that the sections are about: organizations, apps. */
  context?: ComponentChildren
  width?: 'narrow' | 'full'
  children: ComponentChildren
}

/** Sections that the bar of a phone shows; the others are in its menu. */
const sectionsInBar = 4

/** Lays out a page of a console: the letterhead with the areas, the rail with the sections, the content. */
export function Shell({ area, title, part, sections, user, onSignOut, waiting = 0, context, width, children }: Props) {
  useTitle(part === undefined ? title : `${part} · ${title}`)
  const words = useMessages().frame
  const { authUrl } = readSiteSettings()
  return (
    <>
      <Letterhead
        home={`${authUrl}/account`}
        areas={<Areas current={area} user={user} />}
        end={
          <>
            {user && (
              <a
                class="button square ghost"
                href={`${authUrl}/account/signing`}
                aria-label={words.waitingSignatures(waiting)}
              >
                <Icon name="inbox" />
                {waiting > 0 && (
                  <span class="count" aria-hidden="true">
                    {formatNumber(waiting)}
                  </span>
                )}
              </a>
            )}
            <a class="button square ghost" href={`${authUrl}/help`} aria-label={words.help}>
              <Icon name="circle-question-mark" />
            </a>
            {user ? <AccountMenu user={user} onSignOut={onSignOut} /> : <span class="account-room" />}
          </>
        }
      />
      <div class="shell">
        <aside class="rail" aria-label={title}>
          {context}
          <nav class="rail-list" aria-label={words.sections}>
            {sections.map((section) => (
              <RailLink key={section.href} section={section} />
            ))}
          </nav>
        </aside>
        <main id="main" class={width ? `page ${width}` : 'page'}>
          {context !== undefined && <div class="context-narrow">{context}</div>}
          {children}
        </main>
      </div>
      <Bar area={area} sections={sections} user={user} />
      <Foot />
      <Toasts />
    </>
  )
}

/** The areas of the service, as far as it has them, and the user is concerned. */
function areasOf(words: Record<Area, string>, current: Area, user: ShellUser | undefined) {
  const { authUrl, businessUrl, developers } = readSiteSettings()
  const all: { area: Area; label: string; href: string; icon: IconName }[] = [
    { area: 'account', label: words.account, href: `${authUrl}/account`, icon: 'users' },
    { area: 'organizations', label: words.organizations, href: `${businessUrl}/organizations`, icon: 'building' },
    { area: 'developers', label: words.developers, href: `${authUrl}/developers`, icon: 'code-xml' },
    { area: 'operator', label: words.operator, href: `${authUrl}/admin`, icon: 'settings' },
  ]
  const isOperator = current === 'operator' || (user !== undefined && wasOperator(user.handle))
  return all.filter(({ area }) => (area === 'developers' ? developers : area !== 'operator' || isOperator))
}

type AreaProps = { user: ShellUser | undefined }

function Areas({ current, user }: AreaProps & { current: Area }) {
  const words = useMessages().frame
  return (
    <nav class="areas" aria-label={words.areas}>
      {areasOf(words, current, user).map(({ area, label, href }) => (
        <a key={area} href={href} aria-current={area === current ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}

function RailLink({ section }: { section: ShellSection }) {
  return (
    <>
      {section.group !== undefined && <p class="rail-title">{section.group}</p>}
      <SectionLink section={section} />
    </>
  )
}

function SectionLink({ section }: { section: ShellSection }) {
  const words = useMessages().frame
  const { href, icon, label, current, count = 0, onFollow, action } = section
  const content = (
    <>
      <Icon name={icon} />
      {label}
      {count > 0 && (
        <span class="count">
          {formatNumber(count)}
          <span class="vh"> {words.waiting}</span>
        </span>
      )}
    </>
  )
  if (!onFollow)
    return (
      <a href={href} data-action={action} aria-current={current ? 'page' : undefined}>
        {content}
      </a>
    )
  return (
    <RouteLink href={href} current={current} onFollow={onFollow} action={action}>
      {content}
    </RouteLink>
  )
}

/** On phones: the first sections, and a menu of the others and of the areas. */
function Bar({ area, sections, user }: AreaProps & { area: Area; sections: ShellSection[] }) {
  const words = useMessages().frame
  const first = sections.slice(0, sectionsInBar)
  const others = sections.slice(sectionsInBar)
  const items: MenuItem[] = [
    ...others.map(({ label, icon, href, current, onFollow }) => ({
      label,
      icon,
      pressed: current,
      ...(onFollow ? { onChoose: onFollow } : { href }),
    })),
    ...(others.length > 0 ? (['divider'] as const) : []),
    ...areasOf(words, area, user).map(({ area: of, label, href, icon }) => ({
      label,
      href,
      icon,
      pressed: of === area,
    })),
  ]
  return (
    <nav class="tabbar" aria-label={words.mainSections}>
      <ul>
        {first.map((section) => (
          <li key={section.href}>
            <SectionLink section={section} />
          </li>
        ))}
        {/* New with another number of sections, because otherwise it would move. */}
        <li key={`more-after-${first.length}`} class={others.some(({ current }) => current) ? 'current' : undefined}>
          <Menu
            label={words.more}
            look="plain"
            trigger={
              <>
                <Icon name="ellipsis" />
                {words.more}
              </>
            }
            items={items}
          />
        </li>
      </ul>
    </nav>
  )
}

function AccountMenu({ user, onSignOut }: { user: ShellUser; onSignOut: (() => void) | undefined }) {
  const words = useMessages().frame
  const { authUrl } = readSiteSettings()
  const { displayName, handle, avatarUrl } = user
  const avatar = <Avatar name={displayName} toneOf={handle} picture={avatarUrl} size="sm" />
  const items: MenuItem[] = [
    { label: words.identities, icon: 'id-card', href: `${authUrl}/account/identities` },
    { label: words.security, icon: 'shield-check', href: `${authUrl}/account/security` },
    { label: words.help, icon: 'circle-question-mark', href: `${authUrl}/help` },
    ...(onSignOut
      ? (['divider', { label: words.signOut, icon: 'log-out', action: 'sign-out', onChoose: onSignOut }] as const)
      : []),
  ]
  return (
    <Menu
      label={words.accountMenu(displayName)}
      look="plain"
      action="account-menu"
      trigger={
        <>
          {avatar}
          <Icon name="chevron-down" size="sm" />
        </>
      }
      head={
        <div class="menu-head">
          <Person avatar={avatar} name={displayName} detail={atHandle(handle)} />
        </div>
      }
      items={items}
      foot={<Preferences />}
    />
  )
}
