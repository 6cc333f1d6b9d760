import type { Navigate as To } from '../../components/frame/route.tsx'
import type { IconName } from '../../components/ui/Icon.tsx'

/** The sections in their order, each with its icon. */
export const sectionIcons = {
  overview: 'layout-dashboard',
  people: 'id-card',
  invitations: 'mail',
  groups: 'users',
  apps: 'app-window',
  organizations: 'building',
  audit: 'scroll-text',
  operators: 'shield-check',
  keys: 'key-round',
  backups: 'database',
  settings: 'settings',
} as const satisfies Record<string, IconName>

export type Section = keyof typeof sectionIcons

export const sections = Object.keys(sectionIcons).filter(isSection)

/** A view: a section, or one thing in it, with one of its tabs. */
export type AdminRoute = { section: Section; id?: string | undefined; tab?: string | undefined }
export type Navigate = To<AdminRoute>

/** What each section receives: the view that it shows, and how to go to another one. */
export type SectionProps = { place: AdminRoute; goTo: Navigate }

function isSection(name: string): name is Section {
  return Object.hasOwn(sectionIcons, name)
}

export function parseRoute(path: string): AdminRoute {
  const [, , name = '', id, tab] = path.split('/')
  return isSection(name) ? { section: name, id: idOf(id), tab: tab || undefined } : { section: 'overview' }
}

/** An ID may be a URL: the one of a client metadata document. */
function idOf(part: string | undefined): string | undefined {
  if (!part) return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function routePath({ section, id, tab }: AdminRoute): string {
  if (section === 'overview') return '/admin'
  const parts = ['/admin', section, id === undefined ? undefined : encodeURIComponent(id), tab]
  return parts.filter((part) => part !== undefined).join('/')
}
