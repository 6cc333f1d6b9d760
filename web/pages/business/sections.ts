import type { IconName } from '../../components/ui/Icon.tsx'

/** The sections of an organization, each with the scope that it requires. */
export const sections = {
  overview: 'read',
  members: 'read',
  documents: 'read',
  activity: 'manage_org',
  domains: 'manage_sso',
  sso: 'manage_sso',
  directory: 'manage_sso',
  keys: 'manage_keys',
  council: 'read',
  settings: 'manage_org',
} as const
export type Section = keyof typeof sections

export const sectionIcons: Record<Section, IconName> = {
  overview: 'layout-dashboard',
  members: 'users',
  documents: 'file-pen-line',
  activity: 'scroll-text',
  domains: 'globe',
  sso: 'log-in',
  directory: 'refresh-cw',
  keys: 'key-round',
  council: 'signature',
  settings: 'settings',
}

/** Sections about access to the organization, in a group of their own. */
export const accessSections: readonly Section[] = ['domains', 'sso', 'directory', 'keys', 'council', 'settings']

export function isSection(name: string): name is Section {
  return Object.hasOwn(sections, name)
}

/** Returns the sections that these scopes permit. */
export function visibleSections(scopes: string[]): Section[] {
  return Object.entries(sections)
    .filter(([, scope]) => scopes.includes(scope))
    .map(([section]) => section)
    .filter(isSection)
}
