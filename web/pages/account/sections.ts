import type { IconName } from '../../components/ui/Icon.tsx'

/** The sections in their order, each with its icon. */
export const sectionIcons = {
  home: 'house',
  signing: 'signature',
  identities: 'id-card',
  security: 'shield-check',
  apps: 'app-window',
  activity: 'activity',
  data: 'database',
} as const satisfies Record<string, IconName>

export type Section = keyof typeof sectionIcons

/** Former paths, to which mails and password managers link. */
const aliases: Record<string, Section> = { passkeys: 'security', sessions: 'security' }

export const sections = Object.keys(sectionIcons).filter(isSection)

function isSection(name: string): name is Section {
  return Object.hasOwn(sectionIcons, name)
}

/** Returns the section of a path below `/account`, the first one by default. */
export function sectionOf(path: string): Section {
  const name = path.split('/')[2] ?? ''
  if (isSection(name)) return name
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? 'home'
}

export function routePath(section: Section): string {
  return section === 'home' ? '/account' : `/account/${section}`
}
